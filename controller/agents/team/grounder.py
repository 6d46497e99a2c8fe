"""A grounder, which finds described elements on the screen: by a tool, or in its family's format."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from controller.agents.team import prompts
from controller.models.calls_as_json import JsonEndpoint
from controller.models.endpoint import ModelEndpoint
from controller.models.families.family import Brief, Screen
from controller.models.families.gestures import ParseError, on_screen
from controller.models.families.history import compose
from controller.models.families.table import find_family
from controller.models.messages import Image, Message, Request, Role, Tool
from controller.models.pictures.sizing import Size, resize_png
from controller.specification.agent import TOOLS
from controller.specification.observation import ImageSpec
from controller.specification.team import GROUNDER
from foundation.clock import SYSTEM_CLOCK

if TYPE_CHECKING:
    from controller.models.calls_as_json import Endpoint
    from controller.models.endpoint import Answer
    from controller.models.families.family import Family
    from controller.models.messages import Reply
    from controller.models.settings import ModelSettings
    from controller.models.usage import Usage
    from controller.observation.observer import Observation
    from controller.observation.pictures import Picture
    from controller.protocol import AgentContext, Turn
    from controller.specification.team import Calls

_POINT = Tool(
    "point",
    "Name the pixel in the middle of the element.",
    {
        "type": "object",
        "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}},
        "required": ["x", "y"],
        "additionalProperties": False,
    },
)


@dataclass(frozen=True, slots=True)
class Finding:
    """A place that the grounder was asked for.

    Attributes:
        target: description of the element.
        point: where it is on the planner's picture, px; None if the grounder named no place on it.
        usage: usage of its model.
        outage_s: seconds that its model did not answer.
        seconds: how long it took.
    """

    target: str
    point: tuple[int, int] | None
    usage: Usage
    outage_s: float
    seconds: float


class Grounder:
    """Finds described elements on screenshots.

    Args:
        context: context of the trial; gets its replies in the diary.
        settings: settings of its model. One of a family is asked in the family's format, and sees the
            screen in the family's size.
        calls: how it names a place; of no account for a family.
    """

    def __init__(self, context: AgentContext, settings: ModelSettings, calls: Calls) -> None:
        endpoint: Endpoint = ModelEndpoint(
            settings, write=context.diary.write, keep=context.diary.keep
        )
        self._family = None if settings.family == TOOLS else find_family(settings.family)
        is_json = calls == "json" and self._family is None
        self._endpoint = JsonEndpoint(endpoint) if is_json else endpoint
        self._settings = settings
        self._write = context.diary.write
        self._phones = {role for role, tools in context.space.tools.items() if "tap" in tools}
        if self._family is None:
            self._write("prompt", system=prompts.prompt_of("planner-grounder", GROUNDER))

    def act(self, observation: Observation) -> Turn:
        """Refuse: the grounder takes no turns of its own."""
        raise NotImplementedError(observation)

    def find(self, target: str, screen: Picture, role: str) -> Finding:
        """Ask for the place of an element; raises like `ModelEndpoint.ask`.

        Args:
            target: description of the element.
            screen: the picture that the planner sees.
            role: the machine that it shows.
        """
        start_s = SYSTEM_CLOCK.monotonic_s()
        if self._family is None:
            answer, point = self._find_by_tool(target, screen)
        else:
            answer, point = self._find_as_family(self._family, target, screen, role)
        usage = answer.reply.usage.priced(*self._settings.prices)
        seconds = SYSTEM_CLOCK.monotonic_s() - start_s
        return Finding(target, point, usage, answer.outage_s, seconds)

    def _find_by_tool(self, target: str, screen: Picture) -> tuple[Answer, tuple[int, int] | None]:
        system = Message(Role.SYSTEM, (prompts.prompt_of("planner-grounder", GROUNDER),))
        width, height = screen.size_px
        parts = (
            f"Screenshot, {width} x {height} px:",
            Image(screen.data(), screen.media_type),
            f"Find: {target}",
        )
        answer = self._endpoint.ask(Request((system, Message(Role.USER, parts)), (_POINT,)))
        return answer, _point_in(answer.reply, screen)

    def _find_as_family(
        self, family: Family, target: str, screen: Picture, role: str
    ) -> tuple[Answer, tuple[int, int] | None]:
        kind: Literal["phone", "desktop"] = "phone" if role in self._phones else "desktop"
        size = Size(*screen.screen_px)
        shown = Screen(role, kind, size, family.sizer.size(size))
        # A grounder was trained on descriptions alone, other models act.
        text = prompts.CLICK.format(target=target) if family.acts else target
        declared = family.declaration.declare(Brief(text, shown))
        picture = resize_png(screen.fitted(ImageSpec()).data(), shown.sent)
        seen = Message(Role.USER, (Image(picture),))
        messages = compose(declared, family.history, (), [seen])
        answer = self._endpoint.ask(Request(messages, declared.tools))
        point = self._place(family, answer.reply, shown)
        return answer, None if point is None else screen.to_picture(point)

    def _place(self, family: Family, reply: Reply, shown: Screen) -> tuple[int, int] | None:
        """Return the first place that a reply names, px of the screen, and log how it was read."""
        parsed = family.parser.read(reply)
        gesture = next((row for row in parsed.gestures if row.places), None)
        point, kind = None, "" if parsed.fault is None else parsed.fault.kind.value
        if gesture is not None:
            try:
                x, y = on_screen(gesture, family.coordinates, shown.sent, shown.size).places[-1]
                point = (int(x), int(y))
            except ParseError as exc:
                kind = exc.kind.value
        self._write(
            "parsed",
            family=family.name,
            screen_px=list(shown.size),
            sent_px=list(shown.sent),
            gestures=[] if gesture is None else [gesture.to_dict()],
            actions=[],
            fault_class=kind,
        )
        return point


def _point_in(reply: Reply, screen: Picture) -> tuple[int, int] | None:
    for call in reply.message.calls:
        try:
            args: Any = json.loads(call.arguments)
            point = args["x"], args["y"]
        except (ValueError, TypeError, KeyError, RecursionError):
            continue
        if all(
            isinstance(value, int | float) and 0 <= value < size
            for value, size in zip(point, screen.size_px, strict=True)
        ):
            return int(point[0]), int(point[1])
    return None
