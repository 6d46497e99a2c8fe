"""The generated parts of ``docs/importing.md``.

``python -m controller.importing.page`` writes them anew; with the folders of a user's copies of CRAB's
and OSWorld's tasks, it counts first what importing them gives (``counts.yaml``).
"""

from __future__ import annotations

import argparse
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from controller.importing.crab.table import crab_subtasks
from controller.importing.fixtures import Fixtures
from controller.importing.importer import import_tasks
from controller.importing.osworld.table import Entry, mapping
from controller.importing.report import KINDS, Status, count_reasons, count_statuses
from foundation.settings import REPOSITORY
from foundation.yaml_source import dump_yaml, read_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from controller.importing.crab.table import TableSubtask
    from controller.importing.report import FileResult

PAGE = REPOSITORY / "docs" / "importing.md"
_COUNTS = Path(__file__).with_name("counts.yaml")
_BEGIN, _END = "<!-- generated: {} -->", "<!-- end -->"
_WAYS = ("without_files", "with_files")
_NAMES = {"crab": "CRAB", "osworld": "OSWorld"}


class AnyFile(Fixtures):
    """A stand-in for a user who has every file: each is one and the same.

    Args:
        folder: scratch folder.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._any = folder / "any"
        self._any.mkdir(exist_ok=True)

    def of_url(self, url: str, task: str) -> Path:  # noqa: ARG002
        """Return a file."""
        return self._file(url.rpartition("/")[2] or "any")

    def of_path(self, path: str, home: str) -> Path:  # noqa: ARG002
        """Return a file, or a folder with files of several kinds for a path without a suffix."""
        name = path.rpartition("/")[2] or "any"
        if "." in name:
            return self._file(name)
        folder = self._any / f"folder-{name}"
        folder.mkdir(exist_ok=True)
        for suffix in ("jpg", "ods", "png", "py", "txt"):
            (folder / f"one.{suffix}").write_text("any\n")
        return folder

    def _file(self, name: str) -> Path:
        path = self._any / re.sub(r"[^\w.-]", "_", name)[-80:]
        path.write_text("any\n")
        return path


def count(folders: Mapping[str, Path]) -> dict[str, Any]:
    """Return what importing each benchmark's files gives, with and without the user's files."""
    counts: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="mesocosm-count-") as scratch:
        fixtures = dict(zip(_WAYS, (Fixtures(None), AnyFile(Path(scratch))), strict=True))
        for name, folder in folders.items():
            for way in _WAYS:
                results = import_tasks(folder, fixtures=fixtures[way]).results
                counts.setdefault(name, {"files": len(results)})[way] = _counted(results)
    return counts


def _counted(results: Any) -> dict[str, Any]:  # noqa: ANN401
    rows: dict[str, Any] = {"files": count_statuses(results)}
    for status in (Status.PART, Status.REFUSED):

        def has(result: FileResult, wanted: Status = status) -> bool:
            return result.status is wanted

        rows[status.value] = count_reasons(results, has)
    return rows


def parts() -> dict[str, str]:
    """Return the text of each generated part of the page."""
    table = mapping()
    return {
        "counts": "\n".join(_count_lines()),
        "kinds": "\n".join(_rows("reason", "meaning", ((f"`{k}`", v) for k, v in KINDS.items()))),
        "crab": "\n".join(_crab_lines()),
        "osworld setup": "\n".join(_entry_lines("setup type", table.setup)),
        "osworld getters": "\n".join(_entry_lines("getter", table.getters)),
        "osworld functions": "\n".join(_entry_lines("function", table.functions)),
        "osworld table rules": "\n".join(_entry_lines("rule", table.table_rules)),
    }


def generate(text: str) -> str:
    """Return a page with its generated parts anew."""
    for name, part in parts().items():
        begin = _BEGIN.format(name)
        head, found, rest = text.partition(begin)
        if not found:
            raise ValueError(f"The page has no part {name!r}.")
        text = f"{head}{begin}\n\n{part}\n\n{_END}{rest.partition(_END)[2]}"
    return text


def _rows(*columns: Any) -> Iterator[str]:  # noqa: ANN401
    """Iterate over the lines of a table: headings, then one iterable of rows."""
    *headings, rows = columns
    yield f"| {' | '.join(headings)} |"
    yield f"|{'---|' * len(headings)}"
    for row in rows:
        yield "| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |"


def _count_lines() -> Iterator[str]:
    data = read_yaml(_COUNTS).data or {}
    rows = []
    for name, counts in data.items():
        for way in _WAYS:
            row = counts[way]["files"]
            numbers = [row[status.value] for status in (Status.WHOLE, Status.PART, Status.REFUSED)]
            rows.append((_NAMES[name], counts["files"], way.replace("_", " "), *numbers))
    yield from _rows("benchmark", "files", "imported", "whole", "in part", "refused", rows)
    yield ""
    columns = [(name, way) for name in data for way in _WAYS]
    reasons = []
    for status in (Status.PART, Status.REFUSED):
        for kind in KINDS:
            cells = [data[name][way][status.value].get(kind, 0) for name, way in columns]
            if any(cells):
                reasons.append((status.value, f"`{kind}`", *(cell or "" for cell in cells)))
    heads = [f"{_NAMES[name]} {way.replace('_', ' ')}" for name, way in columns]
    yield from _rows("status", "reason", *heads, reasons)


def _crab_lines() -> Iterator[str]:
    rows = ((f"`{row.id}`", row.title, _crab_cell(row)) for row in crab_subtasks().values())
    yield from _rows("subtask", "what", "nodes here", rows)


def _crab_cell(subtask: TableSubtask) -> str:
    if subtask.why:
        return f"**none**, `{subtask.why[0]}`: {subtask.why[1]}"
    cells = [
        f"`{node.check}` ({node.crab})" if node.check else f"*left out*: {node.crab}"
        for node in subtask.nodes
    ]
    note = f"; {subtask.note}" if subtask.note else ""
    return f"{', '.join(cells)}{note}"


def _entry_lines(what: str, entries: Mapping[str, Entry]) -> Iterator[str]:
    yield from _rows(what, "here", ((f"`{name}`", _cell(row)) for name, row in entries.items()))


def _cell(entry: Entry) -> str:
    if entry.why:
        return f"**none**, `{entry.why[0]}`: {entry.why[1]}"
    cells = [", ".join(f"`{name}`" for name in entry.ours or ())]
    if entry.note:
        cells.append(entry.note)
    if entry.extent:
        cells.append(f"in part: ours also compares {entry.extent}")
    if entry.share:
        cells.append("only a full score is a PASS")
    return "; ".join(cell for cell in cells if cell)


def main() -> None:
    """Write the page, and count first if there are folders."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("crab", nargs="?", type=Path)
    parser.add_argument("osworld", nargs="?", type=Path)
    options = parser.parse_args()
    if options.osworld:
        head = "".join(re.findall(r"^#.*\n", _COUNTS.read_text(), re.MULTILINE))
        counts = count({"crab": options.crab, "osworld": options.osworld})
        _COUNTS.write_text(head + dump_yaml(counts))
    PAGE.write_text(generate(PAGE.read_text()))


if __name__ == "__main__":
    main()
