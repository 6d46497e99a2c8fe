"""Simulated phone user who only taps and swipes on what the screen shows."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from images.phone.device.ui.keyboard import DIGITS, LETTERS, MORE, SYMBOLS, make_keyboard
from images.phone.device.ui.metrics import UPRIGHT
from images.phone.device.ui.theme import LIGHT

if TYPE_CHECKING:
    from tests.standins.local_phone import Adb

_CLOSING = "UI hierchary dumped to: /dev/tty"
_BOUNDS = re.compile(r'bounds="\[(\d+),(\d+)\]\[(\d+),(\d+)\]"')
Place = tuple[int, int]


def keys_of(page: str, *, is_upper: bool = False) -> dict[str, Place]:
    """Return the positions of the keys of the soft keyboard."""
    keyboard = make_keyboard(UPRIGHT, LIGHT, page, is_upper=is_upper, on_key=lambda _: None)
    places = {}
    for view in keyboard.walk():
        if view.label:
            box = view.box
            places[view.label] = ((box.left + box.right) // 2, (box.top + box.bottom) // 2)
    return places


class TouchUser:
    """Simulated user of the touch screen.

    Args:
        adb: client that is connected to one phone.
    """

    def __init__(self, adb: Adb) -> None:
        self._adb = adb

    def dump(self) -> str:
        """Return the UI hierarchy."""
        output = self._adb.run("exec-out", "uiautomator", "dump", "/dev/tty").require().text
        assert output.rstrip().endswith(_CLOSING)
        return output

    def find(self, name: str, place: int = 0) -> Place | None:
        """Return the centre of a node with this text, description or short resource ID."""
        shown = escape(name, quote=True).replace("&#x27;", "'")
        wanted = (f' text="{shown}"', f' content-desc="{shown}"', f':id/{shown}"')
        hits = [
            node
            for node in re.findall(r"<node [^>]*>", self.dump())
            if any(part in node for part in wanted)
        ]
        if len(hits) <= place:
            return None
        bounds = _BOUNDS.search(hits[place])
        assert bounds is not None
        left, top, right, bottom = (int(number) for number in bounds.groups())
        return (left + right) // 2, (top + bottom) // 2

    def sees(self, name: str) -> bool:
        """Return whether an element with this name is on the screen."""
        return self.find(name) is not None

    def tap(self, *names: str) -> None:
        """Tap on several elements, one after the other."""
        for name in names:
            place = self.find(name)
            assert place is not None, f"nothing on the screen is called {name!r}:\n{self.dump()}"
            self.touch([place])

    def touch(self, places: list[Place]) -> None:
        """Tap on places."""
        line = ";".join(f"input tap {x} {y}" for x, y in places)
        self._adb.run("shell", line).require()

    def swipe(self, start: Place, end: Place) -> None:
        """Swipe over the screen."""
        coordinates = [str(number) for number in (*start, *end)]
        self._adb.run("shell", "input", "swipe", *coordinates, "200").require()

    def type(self, text: str, page: str = LETTERS) -> None:
        """Type on a page of the soft keyboard."""
        places, first = [], page
        for char in text:
            shown = page
            if char == "\n":
                places.append(keys_of(page)["Enter"])
                page = first
                continue
            label = {" ": "Space"}.get(char, char)
            if label in keys_of(shown):
                places.append(keys_of(shown)[label])
            elif label.isalpha() and label.isupper():
                if shown != LETTERS:
                    places.append(keys_of(shown)["Switch page"])
                    page = LETTERS
                places += [keys_of(LETTERS)["Shift"], keys_of(LETTERS, is_upper=True)[label]]
            elif label in keys_of(LETTERS):
                places += [keys_of(shown)["Switch page"], keys_of(LETTERS)[label]]
                page = LETTERS
            else:
                page = SYMBOLS if label in keys_of(SYMBOLS) else MORE
                assert label in keys_of(page), f"the keyboard has no {char!r}"
                if shown in {LETTERS, DIGITS}:
                    places.append(keys_of(shown)["Switch page"])
                if shown == DIGITS:
                    places.append(keys_of(LETTERS)["Switch page"])
                if MORE in {page, shown}:
                    places.append(keys_of(SYMBOLS)["More symbols"])
                places.append(keys_of(page)[label])
        self.touch(places)
