"""What the mapping of one OSWorld task needs and gathers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from controller.importing.errors import NotCarriedError
from controller.importing.osworld.table import mapping, require

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from controller.importing.draft import Draft, Row
    from controller.importing.fixtures import Fixtures
    from controller.importing.osworld.file import Judgement, OsworldTask

DESKTOP = "desktop"
_CARRIED: dict[str, Callable[[Job, Judgement], list[Row]]] = {}


@dataclass(slots=True)
class Job:
    """One task in the making.

    Attributes:
        task: OSWorld's task.
        draft: ours.
        fixtures: the user's files.
        image: image of the desktops; empty for the default one.
    """

    task: OsworldTask
    draft: Draft
    fixtures: Fixtures
    image: str = ""

    def path(self, judged: Judgement) -> str:
        """Return the path on the desktop that is judged.

        Raises:
            NotCarriedError: the getter does not read a file at a path.
        """
        paths = self.paths(judged)
        if len(paths) != 1:
            raise NotCarriedError("option", f"{judged.function}: several files at once")
        return paths[0]

    def paths(self, judged: Judgement) -> list[str]:
        """Return all paths on the desktop that are judged."""
        return self._paths_of(judged.function, judged.result)

    def _paths_of(self, function: str, getter: dict[str, Any]) -> list[str]:
        kind = getter.get("type")
        if kind == "gimp_config_file":
            return [f"~/.config/GIMP/2.10/{getter['file_name']}"]
        if kind == "vlc_config":
            return ["~/.config/vlc/vlcrc"]
        if kind != "vm_file":
            raise NotCarriedError("getter", f"{function}: a result of the getter {kind}")
        if getter.get("time_suffix"):
            raise NotCarriedError("option", f"{function}: time_suffix")
        return _given(getter)

    def is_on_desktop(self, getter: dict[str, Any]) -> bool:
        """Return whether a getter reads a file of the desktop."""
        return getter.get("type") == "vm_file"

    def reference(self, judged: Judgement) -> Path:
        """Return the user's copy of the only file that the result is compared with."""
        files = self.references(judged)
        if len(files) != 1:
            raise NotCarriedError("option", f"{judged.function}: several expected files at once")
        return files[0]

    def references(self, judged: Judgement) -> list[Path]:
        """Return the user's copies of the files that the result is compared with.

        Raises:
            NotCarriedError: one is missing, or what is expected is no file.
        """
        return [
            self.fixtures.of_url(url, self.draft.id)
            for url in self._urls(judged.function, judged.expected)
        ]

    def original(self, getter: dict[str, Any], function: str) -> str:
        """Return the path on the desktop, out of the agent's reach, of a copy of a getter's file."""
        urls = self._urls(function, getter)
        if len(urls) != 1:
            raise NotCarriedError("option", f"{function}: several expected files at once")
        return self.draft.place_original(DESKTOP, self.fixtures.of_url(urls[0], self.draft.id))

    def _urls(self, function: str, getter: dict[str, Any]) -> list[str]:
        if getter.get("type") == "cloud_file":
            return _given(getter)
        if getter.get("type") == "vm_file":
            downloads = {
                home_path(file.get("path")): str(file.get("url"))
                for step in (*self.task.config, *self.task.evaluator.postconfig)
                if step.type == "download"
                for file in files_of(step.parameters)
            }
            if all(path in downloads for path in _given(getter)):
                return [downloads[path] for path in _given(getter)]
        kind = getter.get("type") or "nothing"
        raise NotCarriedError("getter", f"{function}: expects what the getter {kind} reads")

    def rules(self, judged: Judgement) -> dict[str, Any]:
        """Return the arguments of what is expected.

        Raises:
            NotCarriedError: what is expected is no rule.
        """
        rules = judged.expected.get("rules")
        if judged.expected.get("type") != "rule" or not isinstance(rules, dict):
            kind = judged.expected.get("type") or "nothing"
            raise NotCarriedError(
                "getter", f"{judged.function}: expects what the getter {kind} reads"
            )
        return rules


def files_of(parameters: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the files of a download step."""
    files = parameters.get("files")
    return [file for file in files if isinstance(file, dict)] if isinstance(files, list) else []


def _given(getter: dict[str, Any]) -> list[str]:
    """Return the paths of a getter that its function gets."""
    paths = getter.get("path")
    if not isinstance(paths, list):
        return [home_path(paths)]
    gives = getter.get("gives", [0])
    return [home_path(path) for number, path in enumerate(paths) if number in gives]


def home_path(path: object) -> str:
    """Return a path of OSWorld's machine, where relative ones begin at the home folder."""
    text = str(path)
    return text if text.startswith(("/", "~/")) or "://" in text else f"~/{text}"


def carries(
    *names: str,
) -> Callable[[Callable[[Job, Judgement], list[Row]]], Callable[[Job, Judgement], list[Row]]]:
    """Return a decorator for what carries over functions of OSWorld.

    Args:
        names: names of the functions.
    """

    def register(
        function: Callable[[Job, Judgement], list[Row]],
    ) -> Callable[[Job, Judgement], list[Row]]:
        _CARRIED.update(dict.fromkeys(names, function))
        return function

    return register


def carried_functions() -> frozenset[str]:
    """Return the names of the functions that are carried over."""
    return frozenset(_CARRIED)


def carry(job: Job, judged: Judgement) -> list[Row]:
    """Return the checks that say what a function says; all of them must be met.

    Raises:
        NotCarriedError: ours do not say it.
    """
    entry = require(mapping().functions, judged.function, "function")
    for getter in (judged.result, judged.expected):
        if getter:
            require(mapping().getters, str(getter["type"]), "getter")
    checks = _CARRIED[judged.function](job, judged)
    name = judged.function
    if entry.extent:
        job.draft.miss("extent", f"{name}: ours also compares {entry.extent}")
    if entry.share:
        job.draft.remark("option", f"{name}: only its full score is a PASS")
    if entry.note:
        job.draft.remark("option", f"{name}: {entry.note}")
    if entry.sudo:
        job.draft.sudo = True
    return checks


def check(name: str, *, on: str = DESKTOP, **args: Any) -> Row:  # noqa: ANN401
    """Return a check of ours as in a task's file."""
    row: Row = {"on": on, "check": name}
    return {**row, "with": args} if args else row
