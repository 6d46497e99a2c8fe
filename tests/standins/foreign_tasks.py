"""Files in the formats of CRAB and OSWorld, written for tests, and verdicts on their imports."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from controller.actions.vocabulary import vocabulary
from controller.importing.fixtures import Fixtures
from controller.importing.importer import import_tasks
from evaluators.loading.suite import load_suite
from evaluators.model.suite_files import located
from evaluators.testing.desktop import DesktopFixture
from evaluators.testing.machine import MachineFixture
from evaluators.testing.phone import PhoneFixture

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from controller.importing.report import FileResult
    from evaluators.loading.suite import Suite
    from evaluators.model.node import Check

CRAB_HOME = "/home/" + "crab"
VIM = "0f589bf9-9b26-4581-8b78-2961b115ab49"
PRINT = "5b527839-0e58-426d-bab6-7160200b0d24"
SUBMIT = "1c3bedc3-ea5a-453c-a15b-223d72ab756d"
MESSAGE = "caa29623-1811-402d-963a-19f7eecc63d8"
CALL = "955d8773-dd7a-4072-b87c-7e546be7de4e"
DOWNLOAD = "a313ea4d-e501-4971-b4fe-db2aad19eac1"
BRIGHTER = "cc1adae7-bef9-4c8a-865d-00d44486dd69"
COMBINE = "4cf246ea-0a7f-43da-84b6-61d74a2699af"
COPY = "217ababc-ccc7-4b9f-af07-c239d92848fe"
LOOK_UP = "a3d11574-2acf-4b26-a569-a5dbc9d548ap"
MAPS = "51b2463c-9904-4a32-81ba-507bfb89d61f"
CLOUD = "https://data.test/sets/files/resolve/main/"


def crab(
    *subtasks: tuple[str, dict[str, str]] | tuple[str, dict[str, str], str],
    adjlist: str = "",
    name: str = "one",
    **more: object,
) -> dict[str, Any]:
    """Return a composed task of CRAB: subtasks with attributes and, perhaps, an output."""
    count = len(subtasks)
    chain = "\n".join(f"{n} {n + 1}" if n + 1 < count else str(n) for n in range(count))
    return {
        "description": f"Do the task called {name} in {CRAB_HOME}/Desktop.",
        "tasks": [
            {"task": row[0], "attribute": row[1], "output": row[2] if len(row) > 2 else None}
            for row in subtasks
        ],
        "adjlist": adjlist or chain,
        "id": name,
        **more,
    }


def osworld(func: object, *, name: str = "one", **parts: object) -> dict[str, Any]:
    """Return a task of OSWorld; `parts` are those of its evaluator, and other keys of the file."""
    judged = {"result", "expected", "options", "conj", "postconfig"}
    return {
        "id": name,
        "snapshot": "office",
        "instruction": f"Do the task called {name}.",
        "source": "",
        "config": [],
        "trajectory": "trajectories/",
        "related_apps": ["os"],
        "proxy": False,
        **{key: value for key, value in parts.items() if key not in judged},
        "evaluator": {"func": func, **{k: v for k, v in parts.items() if k in judged}},
    }


def vm_file(path: str) -> dict[str, str]:
    """Return a getter of a file of the desktop."""
    return {"type": "vm_file", "path": path, "dest": path.rpartition("/")[2]}


def cloud_file(name: str) -> dict[str, str]:
    """Return a getter of a file that is downloaded."""
    return {"type": "cloud_file", "path": f"{CLOUD}{name}", "dest": name.rpartition("/")[2]}


def rule(**rules: object) -> dict[str, Any]:
    """Return what is expected, as a rule."""
    return {"type": "rule", "rules": rules}


def command(line: str | list[str]) -> dict[str, Any]:
    """Return a getter of what a command prints."""
    return {"type": "vm_command_line", "command": line, "shell": isinstance(line, str)}


def import_one(
    folder: Path, content: Mapping[str, Any], files: Mapping[str, bytes] = {}
) -> tuple[FileResult, Suite | None]:
    """Import one task; return what became of it, and the suite if there is one.

    Args:
        folder: scratch folder.
        content: the file.
        files: the user's files, by path in their folder.
    """
    source = folder / "source.json"
    source.write_text(json.dumps(content))
    given = folder / "files"
    for name, data in files.items():
        (given / name).parent.mkdir(parents=True, exist_ok=True)
        (given / name).write_bytes(data)
    fixtures = Fixtures(given if files else None)
    report = import_tasks(source, folder / "suite", fixtures=fixtures)
    (result,) = report.results
    written = (folder / "suite").exists()
    return result, load_suite(folder / "suite", vocabulary()) if written else None


class Judge:
    """Evaluates the nodes of an imported task on fixtures, without a machine.

    Args:
        suite: the suite with the only task.
        folder: scratch folder.
    """

    def __init__(self, suite: Suite, folder: Path) -> None:
        (self.task,) = suite.tasks
        self._suite = suite
        self.desktop = MachineFixture(folder / "desktop")
        self.phone = PhoneFixture(folder / "phone")
        self._place_files()

    def _place_files(self) -> None:
        """Copy files as the setup does."""
        root = self._suite.vocabulary.folder
        assert root is not None
        for step in self.task.setup:
            if getattr(step, "do", "") == "copy_files":
                args = step.args  # type: ignore[union-attr]
                self.desktop.write(str(args["path"]), (root / str(args["source"])).read_bytes())

    def met(self, node: str) -> bool:
        """Return whether a node is met."""
        wanted = next(row for row in self.task.graph if row.id == node)
        together = all(self._is_met(check) for check in wanted.together)
        return together or any(self._is_met(check) for check in wanted.alternatives)

    def _is_met(self, check: Check) -> bool:
        tool = self._suite.vocabulary.evaluators[check.on][check.check]
        args = tool.check(located(tool, check.args, self._suite.vocabulary.folder))
        met = tool.mark.function(self._subject(tool.on), **args)
        assert isinstance(met, bool)
        return met

    def _subject(self, place: str) -> Any:  # noqa: ANN401
        if place == "desktop":
            return DesktopFixture.subject(self.desktop)
        return self.phone.subject() if place == "phone" else self.desktop.subject()
