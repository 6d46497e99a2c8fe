"""Import a file or a folder of another benchmark's tasks."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from controller.actions.vocabulary import vocabulary
from controller.importing.crab.compose import BENCHMARK as CRAB
from controller.importing.crab.compose import compose
from controller.importing.fixtures import Fixtures
from controller.importing.json_source import read_json
from controller.importing.osworld.convert import BENCHMARK as OSWORLD
from controller.importing.osworld.convert import convert
from controller.importing.report import FileResult, ImportReport, Reason, Status
from controller.importing.suite_folder import apply, compare
from evaluators.loading.suite import load_suite
from evaluators.loading.suite_reader import INDEX
from evaluators.model.codecs import SCHEMA_VERSION, VERSION_KEY
from foundation.errors import SpecError
from foundation.yaml_source import dump_yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from controller.importing.draft import Draft
    from controller.importing.json_source import JsonSource

BENCHMARKS = (CRAB, OSWORLD)
_KEYS = {"evaluator": OSWORLD, "adjlist": CRAB, "tasks": CRAB}
"""Keys that tell the formats apart."""
_NO_TASK = "-"
"""A pattern that no task's id matches, so that faulty tasks are left out and named."""


def import_tasks(
    source: Path,
    to: Path | None = None,
    *,
    fixtures: Fixtures | None = None,
    image: str = "",
    force: bool = False,
    on_file: Callable[[str], object] = lambda _: None,
) -> ImportReport:
    """Import tasks of CRAB or OSWorld.

    Args:
        source: a file, or a folder with files, in JSON.
        to: folder of the suite; by default nothing is written.
        fixtures: the user's files; none by default.
        image: image of the desktops of OSWorld's tasks; empty for the default one.
        force: whether to overwrite what the user changed in `to`.
        on_file: called with each file's name before it is read.

    Raises:
        SpecError: there is no file to import, or `to` has changes of the user.
    """
    given = fixtures or Fixtures(None)
    drafts: dict[str, Draft] = {}
    results: list[FileResult] = []
    for path, name in _files_of(source):
        on_file(name)
        result, draft = _import_file(path, name, given, image)
        if draft is not None and draft.id in drafts:
            why = Reason("format", f"{path}:1: another file has the id {draft.id!r}.")
            result, draft = FileResult(name, result.benchmark, Status.BAD, reasons=(why,)), None
        results.append(result)
        if draft is not None:
            drafts[draft.id] = draft
    with tempfile.TemporaryDirectory(prefix="mesocosm-import-") as scratch:
        staged = Path(scratch) / "suite"
        refused = _stage(staged, list(drafts.values()), to.name if to else "imported")
        results = [_with_refusal(result, refused) for result in results]
        if to is None or len(refused) == len(drafts):
            return ImportReport(results)
        changes = compare(staged, to, force=force)
        apply(changes, staged, to)
    return ImportReport(
        results, changes.written, len(changes.unchanged), changes.kept, changes.removed
    )


def _files_of(source: Path) -> list[tuple[Path, str]]:
    if source.is_file():
        return [(source, source.name)]
    files = [(path, path.relative_to(source).as_posix()) for path in sorted(source.rglob("*.json"))]
    if not files:
        raise SpecError(
            f"{source} has no file of the kind .json.",
            resolution="Give a file, or a folder with files, of CRAB's or OSWorld's tasks.",
        )
    return files


def _import_file(
    path: Path, name: str, fixtures: Fixtures, image: str
) -> tuple[FileResult, Draft | None]:
    benchmark = ""
    try:
        source = read_json(path)
        benchmark = _benchmark_of(source)
        make = compose(source, fixtures) if benchmark == CRAB else convert(source, fixtures, image)
    except SpecError as exc:
        errors = exc.parts or (exc,)
        reasons = tuple(Reason("format", " ".join(str(part).split())) for part in errors)
        return FileResult(name, benchmark, Status.BAD, reasons=reasons), None
    make.id = re.sub(r"[^a-z0-9]+", "-", make.id.lower()).strip("-")[:64]
    if make.refusals:
        reasons = tuple(make.refusals)
        return FileResult(name, benchmark, Status.REFUSED, reasons=reasons), None
    status = Status.PART if make.missing else Status.WHOLE
    notes = tuple(make.notes)
    return FileResult(name, benchmark, status, make.id, tuple(make.missing), notes), make


def _benchmark_of(source: JsonSource) -> str:
    keys = source.data if isinstance(source.data, dict) else {}
    for key, benchmark in _KEYS.items():
        if key in keys:
            return benchmark
    raise source.error(
        (),
        "this is neither a task of CRAB nor one of OSWorld.",
        resolution="CRAB's have the keys tasks and adjlist, OSWorld's the key evaluator.",
    )


def _stage(folder: Path, drafts: Sequence[Draft], name: str) -> dict[str, str]:
    """Write a suite to an empty folder; return the errors of tasks that it cannot have, by id."""
    refused: dict[str, str] = {}
    while remaining := [draft for draft in drafts if draft.id not in refused]:
        if folder.exists():
            shutil.rmtree(folder)
        _write(folder, remaining, name)
        suite = load_suite(folder, vocabulary(), (_NO_TASK,))
        wrong = {Path(file).stem: why for file, why in suite.left_out.items()}
        if not wrong:
            break
        refused |= {task: why.replace(f"{folder}/", "") for task, why in wrong.items()}
    return refused


def _write(folder: Path, drafts: Sequence[Draft], name: str) -> None:
    names = sorted(f"tasks/{draft.id}.yaml" for draft in drafts)
    origins = sorted({draft.origin.partition(",")[0] for draft in drafts})
    index: dict[str, Any] = {
        VERSION_KEY: SCHEMA_VERSION,
        "name": re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:64] or "imported",
        "version": "1",
        "description": f"Tasks imported from {' and '.join(origins)}.",
        "tasks": names,
    }
    applications = {app: kind for draft in drafts for app, kind in draft.applications.items()}
    if applications:
        index["applications"] = dict(sorted(applications.items()))
    (folder / "tasks").mkdir(parents=True)
    (folder / INDEX).write_text(dump_yaml(index))
    for draft in drafts:
        (folder / "tasks" / f"{draft.id}.yaml").write_text(dump_yaml(draft.data))
        for file, source in draft.files.items():
            target = folder / file
            target.parent.mkdir(parents=True, exist_ok=True)
            copy = shutil.copytree if source.is_dir() else shutil.copyfile
            copy(source, target)


def _with_refusal(result: FileResult, refused: dict[str, str]) -> FileResult:
    why = refused.get(result.task)
    if why is None or not result.task:
        return result
    reason = Reason("suite", " ".join(why.split()))
    return FileResult(result.file, result.benchmark, Status.REFUSED, reasons=(reason,))
