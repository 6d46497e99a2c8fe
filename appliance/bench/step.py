"""Measure a step of an agent: action, settled screen, observation with marks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from appliance.bench.rows import Row
from controller.observation.composer import Composer
from controller.observation.observer import Observation, Observer
from controller.observation.settle import DEFAULT_RULE, settle_machine
from controller.specification.observation import MarksSpec, ObservationSpec
from foundation.clock import SYSTEM_CLOCK

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from foundation.clock import Clock
    from provisioning.fleet.backend import Backend
    from provisioning.protocols import Machine

    Tick = Callable[[str], None]

_ROLE = "desktop"
_TREE_MARKS = ObservationSpec(marks=MarksSpec(sources=("tree",)))
_ALL_MARKS = ObservationSpec(marks=MarksSpec())
_PLACES = ((700, 400), (720, 430))
"""Points on the empty desktop, between which the pointer moves; the tree stays the same."""
_PART_SHARE = 5


def bench_step(
    backend: Backend, count: int, tick: Tick, *, clock: Clock = SYSTEM_CLOCK
) -> Generator[Row]:
    """Move the pointer of one desktop and observe it, with marks from the tree and from all sources.

    The machine is created for this and then deleted. The tree does not change between two steps.

    Args:
        backend: of desktops.
        count: samples per row; a fifth as many where the tree is read anew.
        tick: called with the row's name after each sample.
        clock: for measuring.

    Raises:
        MesocosmError: the machine cannot be created, or does not accept input.
    """
    handle = backend.make(lambda _message: None)
    try:
        machine: Machine = handle.machine  # type: ignore[assignment]
        sampler = _Sampler(machine, tick, clock)
        yield from sampler.fresh_trees(max(1, count // _PART_SHARE))
        yield from sampler.steps(count)
    finally:
        handle.delete()


class _Sampler:
    """Takes samples of one machine's steps."""

    def __init__(self, machine: Machine, tick: Tick, clock: Clock) -> None:
        self._machine = machine
        self._tick = tick
        self._clock = clock
        self._moves = 0

    def fresh_trees(self, count: int) -> Generator[Row]:
        """Read the tree although nothing has changed."""
        row = Row("tree, read", "the accessibility tree, read from all programs")
        yield row
        for _ in range(count):
            row.measure(self._machine.tree.elements, self._clock)
            self._tick(row.name)

    def steps(self, count: int) -> Generator[Row]:
        """Carry out steps with marks from the tree, then with marks from all sources."""
        whole = Row("step", "action to settled observation with marks from the tree, unchanged")
        settle = Row("step: settle", "part of it: until the screen is still and the machine idle")
        observe = Row("step: observe", "part of it: the screenshot, the tree, its marks")
        text = Row("marks: text", "time of text recognition in an observation, apart from the step")
        icons = Row("marks: icons", "time of the detector of icons in it")
        first = Row("marks: first", "marks of all sources in the first observation of a screen")
        yield from (whole, settle, observe)
        composer, observer = self._begin(_TREE_MARKS)
        for _ in range(count):
            self._step(composer, observer, (whole, settle, observe))
        yield from (text, icons, first)
        for _ in range(max(1, count // _PART_SHARE)):
            composer, observer = self._begin(_ALL_MARKS, first)
            self._step(composer, observer, None)
            seconds = composer.seconds[_ROLE]
            text.samples_s.append(seconds.get("text", 0.0))
            icons.samples_s.append(seconds.get("icons", 0.0))
            self._tick(text.name)

    def _begin(self, spec: ObservationSpec, row: Row | None = None) -> tuple[Composer, Observer]:
        machines = {_ROLE: self._machine}
        composer, observer = Composer(machines, spec, self._clock), Observer(machines)
        self._act()
        settle_machine(self._machine, DEFAULT_RULE, self._clock)
        seen = Observation(0, observer.take_screenshots())
        (row or Row("", "")).measure(lambda: composer.compose(seen), self._clock)
        return composer, observer

    def _step(
        self, composer: Composer, observer: Observer, rows: tuple[Row, Row, Row] | None
    ) -> None:
        """Carry out one step and add its times to the rows: whole, settle, observe."""
        start_s = self._clock.monotonic_s()
        composer.begin_step(_ROLE, observer.shots, ())
        self._act()
        acted_s = self._clock.monotonic_s()
        frame = settle_machine(self._machine, DEFAULT_RULE, self._clock).frame
        settled_s = self._clock.monotonic_s()
        shots = observer.take_screenshots({_ROLE: frame})
        seen = composer.compose(Observation(1, shots))
        for picture in seen.pictures.values():
            picture.data()
        end_s = self._clock.monotonic_s()
        if rows is None:
            return
        for row, seconds in zip(
            rows, (end_s - start_s, settled_s - acted_s, end_s - settled_s), strict=True
        ):
            row.samples_s.append(seconds)
        rows[0].extra["marks"] = len(seen.marks[_ROLE])
        self._tick(rows[0].name)

    def _act(self) -> None:
        self._moves += 1
        self._machine.input.move(*_PLACES[self._moves % len(_PLACES)])
