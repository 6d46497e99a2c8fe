"""Show the steps of a long command as they happen, and record them for ``--json``."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.text import Text

from foundation.clock import SYSTEM_CLOCK
from foundation.errors import MesocosmError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console

    from foundation.clock import Clock

_log = logging.getLogger(__name__)

_NAME_CHARS = 18


@dataclass(slots=True)
class Step:
    """One step of a command.

    Attributes:
        name: what is done.
        note: short result; set it while the step runs.
        seconds: how long it took.
        ok: whether it ended without an error.
        say: shows a one-line progress message until the step ends.
    """

    name: str
    note: str = ""
    seconds: float = 0.0
    ok: bool = False
    say: Callable[[str], None] = field(default=lambda _message: None, repr=False)


@dataclass
class Steps:
    """The steps of one command, printed one per line.

    Attributes:
        console: where to print; standard error.
        clock: times the steps.
        done: all steps started so far.
    """

    console: Console
    clock: Clock = SYSTEM_CLOCK
    done: list[Step] = field(default_factory=list)

    @contextmanager
    def step(self, name: str, *, spin: bool = True) -> Iterator[Step]:
        """Time one step and print its line when it ends.

        Args:
            name: what is done.
            spin: show a spinner meanwhile; False if the step shows its own progress.
        """
        step = Step(name)
        self.done.append(step)
        began_s = self.clock.monotonic_s()
        try:
            if spin and self.console.is_terminal:
                with self.console.status(Text(name, "bold")) as status:
                    step.say = lambda message: status.update(Text(f"{name}: {message}", "bold"))
                    yield step
            else:
                step.say = lambda message: self.console.print(Text(f"  {name}: {message}"))
                yield step
            step.ok = True
        except MesocosmError as exc:
            step.note = exc.brief
            raise
        finally:
            step.seconds = self.clock.monotonic_s() - began_s
            _log.info("%s %s in %.1f s", name, "done" if step.ok else "failed", step.seconds)
            self._print(step)

    def to_json(self) -> list[dict[str, object]]:
        """Return the steps as plain data."""
        return [
            {"name": step.name, "ok": step.ok, "note": step.note, "seconds": round(step.seconds, 3)}
            for step in self.done
        ]

    def _print(self, step: Step) -> None:
        mark = ("✓ ", "green") if step.ok else ("✗ ", "red")
        seconds = (f"{step.seconds:7.1f} s  ", "dim")
        self.console.print(
            Text.assemble(mark, f"{step.name:<{_NAME_CHARS}}", seconds, step.note), soft_wrap=True
        )
