"""Export of a timeline as one self-contained HTML file with style, script, data and pictures."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from controller.service.web.templating import render

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from controller.service.web.trials.timeline import Timeline

MAX_PICTURES_BYTES = 256 << 20
"""Maximum total size of pictures; the file reports how many are omitted."""

_STATIC = Path(__file__).parents[1] / "static"
_PICTURES = "@@pictures@@"


def export_html(view: Mapping[str, Any], blobs: Path) -> Iterator[bytes]:
    """Yield the file in parts.

    Args:
        view: variables of the timeline's template.
        blobs: folder of the run's pictures.
    """
    timeline: Timeline = view["timeline"]
    chosen, left_out = _choose(timeline, blobs)
    style, script = (_read(name) for name in ("style.css", "trial.js"))
    text = render(
        "trials/export",
        view=view,
        style=Markup(style),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - our own file
        policy=_policy(style, script),
        left_out=left_out,
        pictures=_PICTURES,
    )
    head, _, tail = text.partition(_PICTURES)
    yield head.encode()
    for number, path in enumerate(chosen):
        picture = base64.b64encode(path.read_bytes()).decode("ascii")
        yield f'{"," if number else ""}{json.dumps(path.stem)}:"{picture}"'.encode()
    yield tail.encode()


def _choose(timeline: Timeline, blobs: Path) -> tuple[list[Path], int]:
    """Return the pictures to include, and the number of omitted ones."""
    digests = dict.fromkeys(
        digest
        for moment in timeline.moments
        for digest in (*moment.screens.values(), moment.returned.get("picture", ""))
        if digest
    )
    chosen, size = [], 0
    for digest in digests:
        path = blobs / f"{digest}.png"
        size += path.stat().st_size if path.is_file() else MAX_PICTURES_BYTES
        if size <= MAX_PICTURES_BYTES:
            chosen.append(path)
    return chosen, len(digests) - len(chosen)


def _policy(style: str, script: str) -> str:
    """Return a policy that allows exactly this style and script, and no other sources."""
    return (
        f"default-src 'none'; img-src data:; style-src {_digest(style)}; "
        f"script-src {_digest(script)}; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
    return f"'sha256-{digest}'"


def _read(name: str) -> str:
    return (_STATIC / name).read_text(encoding="utf-8")
