"""Check that a model acts in its format, and means the places that it names."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from controller.models.checking.pictures import cut_off_page, places, squares
from controller.models.checking.tools_format import tools_family
from controller.models.endpoint import ModelEndpoint
from controller.models.failures import shorten
from controller.models.families.family import Brief, Screen
from controller.models.families.gestures import Do, FaultKind, ParseError, on_screen
from controller.models.families.history import compose
from controller.models.families.table import find_family
from controller.models.messages import Image, Message, Request, Role
from controller.models.pictures.sizing import Size, resize_png
from controller.models.usage import NO_USAGE
from controller.specification.agent import TOOLS
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import AgentError, RequirementError

if TYPE_CHECKING:
    from controller.models.families.family import Family
    from controller.models.families.gestures import Gesture
    from controller.models.settings import ModelSettings
    from controller.models.usage import Usage
    from foundation.clock import Clock

SIZES = (Size(1280, 800), Size(1080, 2400))
"""Sizes of the screens on which places are checked: a desktop's and a phone's."""

LIMIT_RATIO = 0.02
"""A median error above this part of the width is refused."""

_PATIENCE_S = 30.0
NO_PLACE = "It named no place."
_RED = "Click the centre of the red square."
_DOWN = "The page goes on below. Scroll down in the middle of the screen to see what follows."
_HELD = "Click the centre of the red square while you hold down the key ctrl."


@dataclass(frozen=True, slots=True)
class PlaceReport:
    """How well a model names places on one screen.

    Attributes:
        size: size of the screen.
        sent: size of the picture that was sent.
        errors_px: distance from the centre of each square, px of the screen; infinite if no place was
            named.
        faults: why no place was named, one for each such reply.
    """

    size: Size
    sent: Size
    errors_px: tuple[float, ...]
    faults: tuple[str, ...]

    @property
    def median_px(self) -> float:
        """Median error, px of the screen."""
        return statistics.median(self.errors_px)

    @property
    def limit_px(self) -> float:
        """Largest median error that is accepted, px of the screen."""
        return LIMIT_RATIO * self.size.width

    @property
    def is_accurate(self) -> bool:
        """Whether the median error is within the limit."""
        return self.median_px <= self.limit_px


@dataclass(slots=True)
class FormatCheck:
    """Asks a model about pictures of known content, in the format of its settings.

    Attributes:
        settings: the model.
        clock: measures outages.
        usage: usage of all questions so far.
        replied: text of the last reply.
    """

    settings: ModelSettings
    clock: Clock = SYSTEM_CLOCK
    usage: Usage = field(default=NO_USAGE)
    replied: str = ""

    @property
    def family(self) -> Family:
        """The format."""
        settings = self.settings
        if settings.family == TOOLS:
            return tools_family(settings.image_scale)
        return find_family(settings.family)

    def check_places(self, size: Size) -> PlaceReport:
        """Ask for each of nine squares on a screen.

        Raises:
            RequirementError: the model does not answer.
        """
        errors: list[float] = []
        faults: list[str] = []
        for target, centre in enumerate(places(size)):
            gestures, fault = self._ask(_RED, squares(size, target), size)
            points = [gesture.places[-1] for gesture in gestures if gesture.places]
            if points:
                errors.append(math.dist(points[0], centre))
            else:
                errors.append(math.inf)
                faults.append(fault or NO_PLACE)
        sent = self.family.sizer.size(size)
        return PlaceReport(size, sent, tuple(errors), tuple(faults))

    def check_scroll(self) -> bool | None:
        """Return whether the model scrolls down when asked to; None if it does not scroll.

        Raises:
            RequirementError: the model does not answer.
        """
        size = SIZES[0]
        gestures, _ = self._ask(_DOWN, cut_off_page(size), size)
        turns = [gesture.notches[1] for gesture in gestures if gesture.do is Do.SCROLL]
        return turns[0] > 0 if turns else None

    def check_modifier(self) -> bool:
        """Return whether the model clicks with a key held down when asked to.

        Raises:
            RequirementError: the model does not answer.
        """
        size = SIZES[0]
        gestures, _ = self._ask(_HELD, squares(size, 4), size)
        held = {
            key.lower()
            for gesture in gestures
            if gesture.do in {Do.CLICK, Do.KEYS_DOWN}
            for key in gesture.keys
        }
        return bool(held & {"ctrl", "control", "control_l"})

    def require_format(self) -> str:
        """Ask for one square, and return a summary of the answer.

        The place need not be right: `check_places` judges that.

        Raises:
            RequirementError: the model does not answer, or not in its format.
        """
        size = SIZES[0]
        start_s = self.clock.monotonic_s()
        gestures, fault = self._ask(_RED, squares(size, 0), size)
        points = [gesture.places[-1] for gesture in gestures if gesture.places]
        if not points:
            raise RequirementError(
                f"The model {self.settings.name!r} does not act in the format {self.family.name!r}.",
                details=f"It replied: {shorten(self.replied) or 'nothing'}\nIt would be told: {fault or NO_PLACE}",
                resolution="Choose its family with --model-family or MESOCOSM_MODEL_FAMILY; "
                "--no-preflight skips this check.",
            )
        seconds = self.clock.monotonic_s() - start_s
        return f"answered in {seconds:.1f} s as {self.family.name}: {gestures[0].do} at {points[0]}"

    def _ask(self, instruction: str, png: bytes, size: Size) -> tuple[list[Gesture], str]:
        """Return what the model does, in px of the screen, and what is wrong with its reply."""
        family = self.family
        screen = Screen("desktop", "desktop", size, family.sizer.size(size))
        declared = family.declaration.declare(Brief(instruction, screen))
        shown = Message(Role.USER, (Image(resize_png(png, screen.sent)),))
        messages = compose(declared, family.history, (), [shown])
        outage_s = min(self.settings.outage_s, _PATIENCE_S)
        patient = self.settings.model_copy(update={"outage_s": outage_s})
        try:
            reply = ModelEndpoint(patient, self.clock).ask(Request(messages, declared.tools)).reply
        except AgentError as exc:
            raise RequirementError(
                f"The model {self.settings.name!r} does not answer a question about a picture.",
                details=f"{exc.brief} {exc.details}".strip(),
                resolution=exc.resolution or "Check the model's server.",
            ) from exc
        self.usage += reply.usage.priced(*self.settings.prices)
        calls = ", ".join(f"{call.name}({call.arguments})" for call in reply.message.calls)
        self.replied = f"{reply.message.text} {calls}".strip()
        parsed = family.parser.read(reply)
        fault = parsed.fault.text if parsed.fault else ""
        if parsed.fault and parsed.fault.kind is FaultKind.UNKNOWN_ACTION and declared.tools:
            fault += f" Offered tools: {', '.join(tool.name for tool in declared.tools)}."
        moved: list[Gesture] = []
        for gesture in parsed.gestures:
            try:
                moved.append(on_screen(gesture, family.coordinates, screen.sent, size))
            except ParseError as exc:
                return moved, exc.brief
        return moved, fault
