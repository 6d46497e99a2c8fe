"""Composes the observations of one trial from what its run wants agents to see."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from controller.observation.clips import Clip, ClipRecorder
from controller.observation.drawing import draw_click, draw_marks
from controller.observation.environments import read_clipboard
from controller.observation.marking.finder import MarkFinder
from controller.observation.marking.tree import has_hidden_windows
from controller.observation.pictures import Picture
from controller.observation.suite_functions import Sight, SuiteFunctions
from controller.observation.tree_text import describe_marks, describe_tree_text
from controller.observation.trees import TreeReading, read_stack, read_tree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from controller.observation.marks import Mark
    from controller.observation.observer import Frame, Observation, Screenshot
    from controller.specification.observation import ObservationSpec
    from foundation.clock import Clock
    from provisioning.protocols import Json, Machine

_CLIPBOARD = "Clipboard: {text!r}"


@dataclass(slots=True)
class _Seen:
    """What is known of one machine.

    Attributes:
        finder: finds its marks; None if the run has none.
        recorder: records its steps; None if the run wants no videos.
        before: its screenshot before the last step.
        click: place of the last click, px; None if the last action had none.
    """

    finder: MarkFinder | None = None
    recorder: ClipRecorder | None = None
    before: Screenshot | None = None
    click: tuple[int, int] | None = None


@dataclass(slots=True)
class _Parts:
    """The parts of one observation, by role."""

    trees: dict[str, TreeReading] = field(default_factory=dict)
    marks: dict[str, Sequence[Mark]] = field(default_factory=dict)
    pictures: dict[str, Picture] = field(default_factory=dict)
    previous: dict[str, Picture] = field(default_factory=dict)
    texts: dict[str, list[str]] = field(default_factory=dict)
    clips: dict[str, Clip] = field(default_factory=dict)
    found: dict[str, Mapping[str, Json]] = field(default_factory=dict)


class Composer:
    """Adds to the screenshots of one trial what its run wants agents to see.

    Args:
        machines: machines by role.
        spec: what agents receive.
        clock: measures.
        functions: observation and visual-prompt functions of the suite.

    Attributes:
        seconds: time of each source of marks in the last observation, by role and source.
    """

    def __init__(
        self,
        machines: Mapping[str, Machine],
        spec: ObservationSpec,
        clock: Clock,
        functions: SuiteFunctions | None = None,
    ) -> None:
        self._machines = machines
        self._spec = spec
        self._clock = clock
        self._functions = functions or SuiteFunctions()
        self._functions.require(spec)
        self._acted: str | None = None
        self._seen = {
            role: _Seen(
                MarkFinder(spec.marks, clock) if spec.marks else None,
                ClipRecorder(spec.video) if spec.video else None,
            )
            for role in machines
        }
        self.seconds: dict[str, Mapping[str, float]] = {}

    def begin_step(
        self, role: str | None, shots: Mapping[str, Screenshot], points: Sequence[Sequence[int]]
    ) -> None:
        """Note an action before it is executed.

        Args:
            role: the machine that it acts on; None for the session.
            shots: the last screenshots by role.
            points: points on that machine's screen that it names, px.
        """
        self._acted = role
        for name, seen in self._seen.items():
            seen.before = shots.get(name)
            seen.click = (points[-1][0], points[-1][1]) if points and name == role else None
            if seen.recorder is not None and seen.before is not None:
                seen.recorder.begin(seen.before.frame, self._clock.monotonic_s())

    def watch(self, role: str, frame: Frame) -> None:
        """Note a frame that was captured while a machine's screen settles."""
        recorder = self._seen[role].recorder
        if recorder is not None:
            recorder.add(frame, self._clock.monotonic_s())

    def compose(self, observation: Observation) -> Observation:
        """Return an observation with everything that the run wants agents to see.

        Args:
            observation: has the screenshots of all machines.

        Raises:
            LinkClosedError: a machine is gone.
            RequirementError: a dependency of a source of marks is missing.
        """
        shots = dict(observation.shots)
        if not self._spec.others and self._acted is not None:
            shots = {self._acted: shots[self._acted]}
        parts = _Parts()
        for role, shot in shots.items():
            self._add(role, shot, parts)
        trees = {role: reading.elements for role, reading in parts.trees.items()}
        return replace(
            observation,
            shots=shots,
            trees=trees if self._spec.trees else {},
            marks=parts.marks,
            pictures=parts.pictures,
            previous=parts.previous,
            texts=parts.texts,
            tree_faults={
                role: reading.fault for role, reading in parts.trees.items() if reading.fault
            },
            clips=parts.clips,
            found=parts.found,
        )

    def _add(self, role: str, shot: Screenshot, parts: _Parts) -> None:
        """Add the parts of one machine."""
        spec, machine, seen = self._spec, self._machines[role], self._seen[role]
        reading = read_tree(machine) if spec.needs_trees else TreeReading()
        if spec.needs_trees:
            parts.trees[role] = reading
        frame = shot.frame
        if spec.visual_prompt:
            sight = Sight(frame, reading.elements)
            prompted = self._functions.prompt(spec.visual_prompt, machine.info.kind, sight)
            frame, parts.marks[role] = prompted.frame, prompted.marks
        elif seen.finder is not None and spec.marks is not None:
            parts.marks[role] = self._find_marks(role, shot, reading, seen.finder)
            frame = draw_marks(frame, parts.marks[role]) if spec.marks.is_drawn else frame
        if spec.last_click and seen.click is not None:
            frame = draw_click(frame, seen.click)
        picture = Picture(frame, spec.image, png=shot.png if frame is shot.frame else None)
        if spec.screenshots:
            parts.pictures[role] = picture
            if spec.previous and seen.before is not None:
                before = seen.before
                parts.previous[role] = Picture(before.frame, spec.image, png=before.png)
        if seen.recorder is not None:
            seen.recorder.end(shot.frame, self._clock.monotonic_s())
            parts.clips[role] = seen.recorder.clip()
        if spec.functions:
            parts.found[role] = self._functions.observe(spec.functions, machine)
        parts.texts[role] = self._texts(role, reading, picture, parts)

    def _find_marks(
        self, role: str, shot: Screenshot, reading: TreeReading, finder: MarkFinder
    ) -> Sequence[Mark]:
        height, width = shot.frame.shape[:2]
        is_stacked = has_hidden_windows(reading.elements, (width, height))
        stack = read_stack(self._machines[role]) if is_stacked else ()
        marks = finder.find(shot.frame, reading.elements, stack)
        self.seconds[role] = finder.seconds
        return marks

    def _texts(self, role: str, reading: TreeReading, picture: Picture, parts: _Parts) -> list[str]:
        spec, texts = self._spec, list[str]()
        if role in parts.marks and (spec.marks is None or spec.marks.is_listed):
            texts.append(describe_marks(parts.marks[role]))
        if spec.tree_text is not None:
            texts.append(
                describe_tree_text(reading.elements, spec.tree_text, picture, reading.fault)
            )
        if spec.clipboard and (text := read_clipboard(self._machines[role])) is not None:
            texts.append(_CLIPBOARD.format(text=text))
        texts += [f"{name}: {value}" for name, value in parts.found.get(role, {}).items()]
        return texts
