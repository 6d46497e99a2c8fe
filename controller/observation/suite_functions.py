"""Observation and visual-prompt functions that a suite brings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from foundation.errors import SpecError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from controller.observation.marks import Mark
    from controller.specification.observation import ObservationSpec
    from evaluators.catalogue import Tools, Vocabulary
    from evaluators.schema import Tool
    from provisioning.protocols import Element, Json, Machine

    Frame = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Sight:
    """What a visual-prompt function receives.

    Attributes:
        frame: the screen, uint8 array (H, W, 3), RGB, origin top left.
        elements: its accessibility tree in document order; empty unless the run reads trees.
    """

    frame: Frame
    elements: Sequence[Element] = ()


@dataclass(frozen=True, slots=True)
class Prompted:
    """What a visual-prompt function returns.

    Attributes:
        frame: the picture for agents, of the same size.
        marks: the marks that actions may name, with numbers that differ.
    """

    frame: Frame
    marks: Sequence[Mark] = ()


@dataclass(frozen=True, slots=True)
class SuiteFunctions:
    """The functions of a suite that observations may use, by kind of machine and name.

    Attributes:
        observations: functions that add to what agents see.
        visual_prompts: functions that make the picture that agents see.
    """

    observations: Tools = field(default_factory=dict)
    visual_prompts: Tools = field(default_factory=dict)

    @classmethod
    def of(cls, vocabulary: Vocabulary) -> SuiteFunctions:
        """Return the functions of a vocabulary."""
        return cls(vocabulary.observations, vocabulary.visual_prompts)

    def require(self, spec: ObservationSpec) -> None:
        """Check that the suite has the functions that an observation names.

        Raises:
            UnknownNameError: it does not have one.
        """
        _require("observation function", spec.functions, self.observations)
        prompts = (spec.visual_prompt,) if spec.visual_prompt else ()
        _require("visual-prompt function", prompts, self.visual_prompts)

    def observe(self, names: Sequence[str], machine: Machine) -> Mapping[str, Json]:
        """Return the results of the named functions that are for machines of this kind, by name."""
        known = self.observations.get(machine.info.kind, {})
        return {name: known[name].mark.function(machine) for name in names if name in known}

    def prompt(self, name: str, kind: str, sight: Sight) -> Prompted:
        """Return the picture of a visual-prompt function; for another kind of machine, the screen.

        Args:
            name: name of the function.
            kind: kind of the machine.
            sight: what the function receives.

        Raises:
            SpecError: the function returned something else, or used a number twice.
        """
        tool = self.visual_prompts.get(kind, {}).get(name)
        return Prompted(sight.frame) if tool is None else _prompted(tool, sight)


def _prompted(tool: Tool, sight: Sight) -> Prompted:
    result = tool.mark.function(sight)
    if not isinstance(result, Prompted):
        raise SpecError(f"{tool.name} returned {type(result).__name__}, not a Prompted.")
    frame = np.asarray(result.frame)
    if frame.dtype != np.uint8 or frame.shape != sight.frame.shape:
        raise SpecError(
            f"{tool.name} returned a picture of the shape {frame.shape} and type {frame.dtype}.",
            resolution=f"Return an uint8 array of the shape {sight.frame.shape}.",
        )
    numbers = [mark.id for mark in result.marks]
    if len({*numbers}) != len(numbers):
        raise SpecError(f"{tool.name} used the number of a mark twice.", details=str(numbers))
    return Prompted(frame, tuple(result.marks))


def _require(what: str, names: Sequence[str], tools: Tools) -> None:
    known = {name for named in tools.values() for name in named}
    for name in names:
        if name not in known:
            raise UnknownNameError.of(what, name, known)
