"""Runs a reference solution like a user: checks the effect of each segment and retries it once.

A slow desktop loses keys that are pressed before a window accepts them; a user notices that and
presses them again.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from PIL import Image

from controller.actions.space import Action
from controller.agents.oracle import Oracle
from evaluators.graph.outcome import Call, Verdict
from evaluators.model.oracle import WaitFor
from foundation.errors import AgentError, MesocosmError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from controller.episode.episode import Episode
    from controller.episode.step import Step
    from controller.observation.observer import Observation
    from evaluators.model.oracle import OracleStep
    from evaluators.model.task import Task
    from provisioning.protocols import Machine

_TRIES = 2
_LOOK_S = 15.0
_COMPLETE = Action("complete")
_COMMANDS = (
    "ls -la --time-style=full-iso . Documents Pictures Desktop site",
    "ps -eo pid,stat,etimes,time,args --sort=-time | head -20; cat /proc/loadavg",
    "tail -n 5 .local/share/recently-used.xbel",
)


def segments(steps: Sequence[OracleStep]) -> list[list[OracleStep]]:
    """Split the steps into segments that each end by waiting for the segment's effect."""
    pieces: list[list[OracleStep]] = [[]]
    for step in steps:
        pieces[-1].append(step)
        if isinstance(step, WaitFor):
            pieces.append([])
    return [piece for piece in pieces if piece]


@dataclass
class SolutionDriver:
    """Drives an episode by a task's solution; a segment without its effect is retried once.

    If the effect of an earlier segment is gone as well, such as a dialog, the retry starts there.

    Attributes:
        folder: folder of the screenshots taken when an effect was missing.
        reports: the state of the machines at those times, one text each.
    """

    folder: Path
    reports: list[str] = field(default_factory=list)

    def drive(self, episode: Episode, observation: Observation) -> None:
        """Play the segments and complete.

        Raises:
            AgentError: an effect was missing twice.
            LinkError: a machine failed.
        """
        pieces = segments(_solution_steps(episode.oracle_context().task))
        at, failures = 0, [0] * len(pieces)
        while at < len(pieces):
            try:
                step = _play(episode, observation, pieces[at])
            except AgentError as exc:
                failures[at] += 1
                self._look(episode, f"try {failures[at]}: {exc.brief} {exc.details}")
                if failures[at] == _TRIES:
                    raise
                at = _last_intact(episode, pieces, at)
                continue
            if step is not None and step.done:
                return
            observation = step.observation if step is not None else observation
            at += 1
        if episode.evaluate().verdict is not Verdict.PASS:
            self._look(episode, "the solution was played, but not everything is met")
        episode.step([_COMPLETE])

    def _look(self, episode: Episode, what: str) -> None:
        """Record the state of all machines, for diagnosis."""
        for role, machine in episode.oracle_context().machines.items():
            number = len(self.reports) + 1
            path = self.folder / f"{role}-{number}.png"
            parts = [
                what,
                _describe_screen(machine, path),
                *(_output_of(machine, line) for line in _COMMANDS),
            ]
            self.reports.append("\n".join(parts))
            print(self.reports[-1], flush=True)  # noqa: T201 - pytest shows it when a test fails


def _solution_steps(task: Task) -> Sequence[OracleStep]:
    return next(iter(task.solutions.values()))


def _last_intact(episode: Episode, pieces: Sequence[Sequence[OracleStep]], at: int) -> int:
    """Return the last segment, up to a number, whose predecessor's effect is still present."""
    runners = episode.oracle_context().runners
    while at:
        last = pieces[at - 1][-1]
        check = last.wait_for if isinstance(last, WaitFor) else None
        if check is None:
            break
        call = Call("look", check.check, check.args)
        if runners[check.on].evaluate([call], timeout_s=_LOOK_S)[0].met is True:
            break
        at -= 1
    return at


def _play(episode: Episode, observation: Observation, piece: Sequence[OracleStep]) -> Step | None:
    """Play a segment; return the last step, None if it only waits."""
    oracle = Oracle(episode.oracle_context(), piece)
    step: Step | None = None
    while True:
        turn = oracle.act(step.observation if step else observation)
        if turn.actions == (_COMPLETE,):
            return step
        step = episode.step(turn)
        if step.done:
            return step


def _describe_screen(machine: Machine, path: Path) -> str:
    """Save a screenshot; return its path, the windows and the names of the elements."""
    try:
        raw = io.BytesIO()
        Image.fromarray(machine.screen.capture()).save(raw, "png")
        path.write_bytes(raw.getvalue())
        windows = machine.link.call("windows", {}, timeout_s=30)
        names = [f"{row.role} {row.name!r}" for row in machine.tree.elements() if row.name]
    except MesocosmError as exc:
        return f"picture: {path}; {exc}"
    return f"picture: {path}\nwindows: {windows}\nelements: {', '.join(names)[:4000]}"


def _output_of(machine: Machine, line: str) -> str:
    try:
        argv = ["/bin/sh", "-c", f"cd {machine.info.home}; {line}"]
        done = machine.run(argv, timeout_s=30)
    except MesocosmError as exc:
        return f"$ {line}\n{exc}"
    return f"$ {line}\n{done.stdout.decode(errors='replace')}{done.stderr.decode(errors='replace')}"
