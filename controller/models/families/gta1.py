"""GTA1: a grounder, which names the place of what a text describes; px of the resized picture.

Source: Yan98/GTA1 README.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from controller.models.families.arguments import number
from controller.models.families.family import Declared, Family, History
from controller.models.families.gestures import Do, Gesture
from controller.models.families.reading import MAX_REPLY_CHARS, read_all
from controller.models.pictures.coordinates import Coordinates, Kind
from controller.models.pictures.sizing import SmartResize

if TYPE_CHECKING:
    from collections.abc import Iterator

    from controller.models.families.family import Brief
    from controller.models.families.gestures import Parsed
    from controller.models.messages import Reply

SYSTEM = """\
You locate elements of user interfaces. The picture is {width} px wide and {height} px high. Given a \
description, reply with the centre of the element, in px, as (x,y) and nothing else."""
SMART = SmartResize(28, 3136, 4096 * 2160)
_POINT = re.compile(r"(-?\d{1,7}(?:\.\d{1,20})?)\s{0,9},\s{0,9}(-?\d{1,7}(?:\.\d{1,20})?)")


class Gta1Declaration:
    """States the size of the picture."""

    texts: tuple[str, ...] = (SYSTEM,)

    def declare(self, brief: Brief) -> Declared:
        """Return the prompt; the instruction is the description of an element."""
        width, height = brief.screen.sent
        return Declared(SYSTEM.format(width=width, height=height), (), brief.instruction)


class Gta1Parser:
    """Reads the first pair of numbers as the place to click."""

    def read(self, reply: Reply) -> Parsed:
        """Return a click."""
        said = reply.message.text[:MAX_REPLY_CHARS]
        return read_all(reply, _POINT.findall(said)[:1], _gestures)


def _gestures(pair: tuple[str, str]) -> Iterator[Gesture]:
    yield Gesture(Do.CLICK, ((number(pair[0], "x"), number(pair[1], "y")),))


GTA1 = Family(
    name="gta1",
    adapters=frozenset({"openai"}),
    sizer=SMART,
    declaration=Gta1Declaration(),
    parser=Gta1Parser(),
    coordinates=Coordinates(Kind.RESIZED, processor=SMART),
    history=History(turns=1, pictures=1),
    source="Yan98/GTA1 README",
    acts=False,
)
