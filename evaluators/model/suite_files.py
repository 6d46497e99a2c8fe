"""Files and folders of a suite that setup operations copy to machines.

An operation declares such an argument as `SuiteFile`: task files name a path in the suite's folder,
and the function gets an absolute path on this host. These files are part of the suite's digest.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Final

from evaluators.model.oracle import WaitFor
from evaluators.model.roles import place_of
from foundation.errors import SpecError
from foundation.files import digest_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from evaluators.catalogue import Vocabulary
    from evaluators.model.oracle import SetupEntry
    from evaluators.schema import Tool
    from provisioning.protocols import Json
    from provisioning.resource import ResourceSpec

SUITE_FILE: Final = "suite-file"
"""Mark of arguments that name a file or folder of the suite."""
SuiteFile = Annotated[str, SUITE_FILE]
"""Path of a file or folder, relative to the suite's folder; empty for none."""

_PLACEHOLDER = re.compile(r"\$\{[^{}]*\}")


def locate(folder: Path | None, name: str) -> Path:
    """Return a file or folder of a suite.

    Args:
        folder: folder of the suite.
        name: relative path.

    Raises:
        SpecError: it does not exist, or is outside the folder.
    """
    if folder is None:
        raise SpecError(f"{name} is a suite's file, but no suite's folder is known.")
    root = folder.resolve()
    path = (root / name).resolve()
    if not path.is_relative_to(root):
        raise SpecError(f"{name} is outside the suite's folder.")
    if not path.exists():
        raise SpecError(f"The suite's folder does not contain {name}.")
    return path


def digest_files(
    setup: Iterable[SetupEntry], roles: Mapping[str, ResourceSpec], vocabulary: Vocabulary
) -> dict[str, str]:
    """Return the SHA-256 of every file that setup steps copy, by path in the suite's folder.

    If a path contains a placeholder, all files that it may name are included.

    Args:
        setup: setup steps of a task.
        roles: what each role needs.
        vocabulary: vocabulary of the suite, with its folder.
    """
    if vocabulary.folder is None or vocabulary.setups is None:
        return {}
    root = vocabulary.folder.resolve()
    digests: dict[str, str] = {}
    for step in setup:
        if isinstance(step, WaitFor):
            continue
        place = place_of(roles, step.on)
        tool = vocabulary.setups.get(place or "", {}).get(step.do)
        for name in () if tool is None else named_files(tool, step.args):
            digests |= {
                str(path.relative_to(root)): digest_file(path) for path in _files(root, name)
            }
    return dict(sorted(digests.items()))


def named_files(tool: Tool, args: Mapping[str, Json]) -> Iterator[str]:
    """Iterate over the paths in the suite's folder that a call's arguments name."""
    for name in tool.marked(SUITE_FILE):
        value = args.get(name)
        if isinstance(value, str) and value:
            yield value


def _files(root: Path, name: str) -> list[Path]:
    matches = list(root.glob(_PLACEHOLDER.sub("*", name))) if "${" in name else [root / name]
    inside = [path for path in matches if path.resolve().is_relative_to(root)]
    return sorted(
        path
        for top in inside
        for path in ([top] if top.is_file() else top.rglob("*"))
        if path.is_file()
    )
