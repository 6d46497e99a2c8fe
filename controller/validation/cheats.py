"""Attempts to pass a task without doing it, with the agent's permissions."""

from __future__ import annotations

import itertools
import logging
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from controller.actions.space import Action
from evaluators.model.task import INFEASIBLE_CHECK
from evaluators.strict import SESSION
from foundation.errors import GuestCallError
from provisioning.resource import DESKTOP, PHONE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from controller.episode.episode import Episode
    from controller.episode.step import OracleContext
    from controller.observation.observer import Observation
    from evaluators.model.node import Check
    from evaluators.model.task import Cheat, Task
    from provisioning.protocols import Element, Machine

_LOG = logging.getLogger(__name__)
_TIMEOUT_S = 20.0
_TEXT = "cheated"
_GUESSES = ("", "0", "1", "yes", "no", "none", "true")


class Command(NamedTuple):
    """A shell command run as the agent's user, and the role that it runs on."""

    role: str
    line: str


def write_paths(task: Task) -> list[Command]:
    """Return commands that write a text to every path in the graph."""
    return [
        Command(role, f"mkdir -p {_folder(path)} && echo {_TEXT} > {_word(path)}")
        for role, path in dict.fromkeys(_paths(task))
    ]


def copy_references(task: Task) -> list[Command]:
    """Return commands that copy each path of a check over each other path."""
    return [
        Command(check.on, f"rm -rf {_word(target)} && cp -r {_word(source)} {_word(target)}")
        for check in _checks(task)
        for source, target in itertools.permutations(_paths_of(check), 2)
    ]


def overwrite_both(task: Task) -> list[Command]:
    """Return commands that make all paths of a check the same file."""
    return [
        Command(check.on, f"rm -rf {_word(path)} && echo {_TEXT} > {_word(path)}")
        for check in _checks(task)
        for path in _paths_of(check)
        if len(_paths_of(check)) > 1
    ]


CHEATS: Mapping[Cheat, Callable[[Task], list[Command]]] = {
    "write-paths": write_paths,
    "copy-reference": copy_references,
    "overwrite-both": overwrite_both,
}
"""Returns the commands of each cheat; empty for a task to which it does not apply."""


@dataclass(frozen=True, slots=True)
class CheatDriver:
    """Runs the commands of a cheat, and declares the task done.

    Attributes:
        commands: returns the commands for a task.
    """

    commands: Callable[[Task], list[Command]]

    def drive(self, episode: Episode, observation: Observation) -> None:
        """Run the commands, wait for an evaluation, and complete.

        Raises:
            LinkError: a machine failed.
            StoreError: the log cannot be written.
        """
        del observation
        context = episode.oracle_context()
        for command in self.commands(context.task):
            _run(context.machines[command.role], command.line)
        _end(episode, Action("wait", args={"seconds": 1.0}))


class GuessDriver:
    """Submits guessed answers in sequence, and completes."""

    def drive(self, episode: Episode, observation: Observation) -> None:
        """Submit the guesses.

        Raises:
            LinkError: a machine failed.
            StoreError: the log cannot be written.
        """
        del observation
        _end(episode, *(Action("submit", args={"answer": guess}) for guess in _GUESSES))


class GiveUpDriver:
    """Declares every task infeasible."""

    def drive(self, episode: Episode, observation: Observation) -> None:
        """Declare the task infeasible.

        Raises:
            LinkError: a machine failed.
            StoreError: the log cannot be written.
        """
        del observation
        _end(episode, Action("declare_infeasible", args={"reason": "It cannot be done."}))


class TouchDriver:
    """Clicks every element of every machine, including elements that appear as a result."""

    def drive(self, episode: Episode, observation: Observation) -> None:
        """Click elements until no new ones appear or the steps are used up.

        Raises:
            LinkError: a machine failed.
            StoreError: the log cannot be written.
        """
        del observation
        context = episode.oracle_context()
        touched: set[tuple[str, str, str]] = set()
        while (action := _next_touch(context, touched)) is not None:
            if episode.step([action]).done:
                return
        _end(episode)


def asks_for_answer(task: Task) -> bool:
    """Return whether a task's graph checks the agent's answer."""
    return any(check.on == SESSION and check.check != INFEASIBLE_CHECK for check in _checks(task))


def _end(episode: Episode, *actions: Action) -> None:
    for action in (*actions, Action("complete")):
        if episode.step([action]).done:
            return


def _next_touch(context: OracleContext, touched: set[tuple[str, str, str]]) -> Action | None:
    for role, machine in context.machines.items():
        for element in machine.tree.elements():
            key = (role, element.role, element.name)
            if key in touched or not _is_visible(element, machine):
                continue
            touched.add(key)
            x, y = element.bounds.center
            name = "tap" if machine.info.kind == PHONE else "click"
            return Action(name, role, {"x": x, "y": y})
    return None


def _is_visible(element: Element, machine: Machine) -> bool:
    width, height = machine.screen.size()
    x, y = element.bounds.center
    return 0 <= x < width and 0 <= y < height


def _run(machine: Machine, line: str) -> None:
    """Run a command as the agent's user; it is allowed to fail."""
    home = shlex.quote(machine.info.home)
    try:
        result = machine.run(
            ["/bin/sh", "-c", line.replace("~/", f"{home}/")], timeout_s=_TIMEOUT_S
        )
        _LOG.debug("cheat on %s: %s (%d)", machine.info.machine_id, line, result.exit_code)
    except GuestCallError as exc:
        _LOG.info("cheat on %s: %s: %s", machine.info.machine_id, line, exc)


def _checks(task: Task) -> Iterator[Check]:
    """Yield the checks that earn credit; violating an invariant would hide other weaknesses."""
    for node in task.credit_nodes:
        yield from node.checks


def _paths(task: Task) -> Iterator[tuple[str, str]]:
    for check in _checks(task):
        for path in _paths_of(check) if task.place_of(check.on) == DESKTOP else ():
            yield check.on, path


def _paths_of(check: Check) -> list[str]:
    values = [value for value in check.args.values() if isinstance(value, str)]
    return [value for value in values if value.startswith(("/", "~/")) and len(value) > 1]


def _word(path: str) -> str:
    """Return a path quoted for the shell, with ``~/`` outside the quotes."""
    return f"~/{shlex.quote(path[2:])}" if path.startswith("~/") else shlex.quote(path)


def _folder(path: str) -> str:
    return _word(path.rstrip("/").rpartition("/")[0] or "/") if path.count("/") > 1 else "~/."
