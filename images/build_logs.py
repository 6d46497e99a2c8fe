"""The kept logs of builds, for people who look for why one failed."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from foundation.errors import UnknownNameError

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = "logs"
"""Folder of the logs, in that of images."""
_NAME = re.compile(r"(?P<label>.+)-(?P<digest>[0-9a-f]{12})-(?P<time>\d{8}T\d{6}Z)")
_TIME = "%Y%m%dT%H%M%SZ"
_FAILED = "FAILED: "
_PHASE = re.compile(r"^== (.+)$", re.MULTILINE)
_OPEN = re.compile(r"docker run -it --rm \S+ bash")
_TAIL_BYTES = 256 << 10
_MOST = 200


@dataclass(frozen=True, slots=True)
class BuildRecord:
    """One build, by its log.

    Attributes:
        name: name of the log, without its suffix.
        label: name and variant of the image.
        digest: start of the digest of the recipe, or of the image that was booted.
        started_s: when it began, s since the epoch.
        state: ``built``, ``failed``, or ``unfinished``: it is running, or was killed.
        phase: the last phase that it reached.
        failure: why it failed; empty if it did not.
        command: opens the tree of the step that failed; empty if none is kept.
        text: the end of the log.
        is_whole: whether `text` is the whole log.
    """

    name: str
    label: str
    digest: str
    started_s: float
    state: str
    phase: str
    failure: str
    command: str
    text: str
    is_whole: bool


def log_path(images_dir: Path, label: str, digest: str, started_s: float) -> Path:
    """Return the path of the log of a build.

    Args:
        images_dir: folder of images.
        label: name and variant of the image, joined by a hyphen.
        digest: digest of the recipe, or of the image.
        started_s: when the build began, s since the epoch.
    """
    time = datetime.fromtimestamp(started_s, tz=UTC)
    return images_dir / FOLDER / f"{label}-{digest[:12]}-{time.strftime(_TIME)}.log"


def list_builds(images_dir: Path) -> list[BuildRecord]:
    """Return the last builds, newest first."""
    paths = [path for path in (images_dir / FOLDER).glob("*.log") if _NAME.fullmatch(path.stem)]
    paths.sort(key=lambda path: _match(path.stem)["time"], reverse=True)
    return [_read(path) for path in paths[:_MOST]]


def read_build(images_dir: Path, name: str) -> BuildRecord:
    """Return one build.

    Raises:
        UnknownNameError: there is no such log.
    """
    names = {path.stem: path for path in (images_dir / FOLDER).glob("*.log")}
    if name not in names or not _NAME.fullmatch(name):
        raise UnknownNameError.of("log of a build", name, names)
    return _read(names[name])


def _match(name: str) -> re.Match[str]:
    found = _NAME.fullmatch(name)
    assert found is not None  # noqa: S101 - checked by callers
    return found


def _read(path: Path) -> BuildRecord:
    found = _match(path.stem)
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _TAIL_BYTES))
        text = file.read(_TAIL_BYTES).decode(errors="replace")
    phases = _PHASE.findall(text)
    _, mark, failure = text.rpartition(f"\n{_FAILED}") if f"\n{_FAILED}" in text else ("", "", "")
    if not mark and text.startswith(_FAILED):
        failure = text.removeprefix(_FAILED)
    is_done = bool(phases) and phases[-1] == "done"
    command = _OPEN.search(failure)
    return BuildRecord(
        path.stem,
        found["label"],
        found["digest"],
        datetime.strptime(found["time"], _TIME).replace(tzinfo=UTC).timestamp(),
        "failed" if failure else "built" if is_done else "unfinished",
        phases[-1] if phases else "",
        failure.strip(),
        command[0] if command else "",
        text,
        size <= _TAIL_BYTES,
    )
