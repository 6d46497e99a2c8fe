"""The command ``monkey``: open an application, then touch it at random.

Source: AOSP ``Monkey.java``, ``MonkeySourceRandom.java``.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from images.phone.device.apps.directory import APPS
from images.phone.device.commands.base import CommandError

if TYPE_CHECKING:
    from images.phone.device.commands.base import Invocation

_USAGE = "usage: monkey [-p ALLOWED_PACKAGE]... [-c MAIN_CATEGORY]... [-s SEED] [-v]... COUNT"
_NOTHING = "** No activities found to run, monkey aborted."
_EXIT_NOTHING = 252
_WITH_VALUE = frozenset(("-p", "-c", "-s", "--throttle", "--port"))
_MAX_EVENTS = 10_000
_KEYS = ("BACK", "DPAD_DOWN", "TAB", "ENTER", "VOLUME_UP")
_TAPS_RATIO, _SWIPES_RATIO = 0.75, 0.9


def run_monkey(call: Invocation) -> str:
    """Open an allowed application with the first event; the others are touches and keys in it."""
    values: dict[str, list[str]] = {}
    rest = list(call.args)
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        values.setdefault(option, []).append(rest.pop(0) if option in _WITH_VALUE and rest else "")
    seed = values.get("-s", ["0"])[-1]
    if len(rest) != 1 or not _is_count(rest[0]) or not seed.lstrip("-").isdecimal():
        raise CommandError(_USAGE, _EXIT_NOTHING)
    allowed = values.get("-p", sorted(package for package, app in APPS.items() if app.is_listed))
    known = [package for package in allowed if package in APPS]
    if not known:
        raise CommandError(_NOTHING, _EXIT_NOTHING)
    _touch(call, known, random.Random(int(seed)), int(rest[0]))  # noqa: S311 - repeatable
    head = f":Monkey: seed={seed} count={rest[0]}\n" if "-v" in values else ""
    return f"{head}Events injected: {rest[0]}\n## Network stats: elapsed time=0ms\n"


def _is_count(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) < 6 and 0 < int(word) <= _MAX_EVENTS  # noqa: PLR2004


def _touch(call: Invocation, allowed: list[str], chance: random.Random, count: int) -> None:
    phone = call.phone
    for number in range(count):
        if number == 0 or phone.stack.front.package not in allowed:
            phone.launch(chance.choice(allowed))
            continue
        width_px, height_px = phone.display.seen_px
        places = [(chance.randrange(width_px), chance.randrange(height_px)) for _ in "12"]
        kind = chance.random()
        if kind < _TAPS_RATIO:
            phone.tap(*places[0])
        elif kind < _SWIPES_RATIO:
            phone.swipe(places[0], places[1], 100)
        else:
            phone.press(chance.choice(_KEYS))
