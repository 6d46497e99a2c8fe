"""Receivers of a machine's input in its programs, which verify the contract of `Input`.

Every predicate is also evaluated before the action and must return False then: an `Input` that does
nothing fails each test of the contract.
"""

from __future__ import annotations

import base64
import itertools
import re
from typing import TYPE_CHECKING, Protocol, cast

from foundation.clock import SYSTEM_CLOCK, wait_until
from provisioning.protocols import Button

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from provisioning.fake.desktop import FakeDesktop
    from provisioning.fake.phone import FakePhone
    from provisioning.phone.reference.machine import ReferencePhone
    from provisioning.protocols import Element, Json, Machine

Place = tuple[int, int]
OPEN_TIMEOUT_S = 60.0
_REST_S = 0.3
_TOLERANCE_PX = 1
_BUTTONS = {Button.LEFT: 1, Button.MIDDLE: 2, Button.RIGHT: 3}
_WHEEL_UP, _WHEEL_DOWN = 4, 5
# X11/keysymdef.h: Unicode characters above Latin-1 are 0x01000000 plus the code point.
_UNICODE = 0x01000000
_CONTROLS = {0xFF0D: "\n", 0xFF09: "\t"}


class Receiver(Protocol):
    """A program that shows the input it receives."""

    @property
    def has_pointer(self) -> bool:
        """Return whether there is a pointer that `move` can place."""
        ...

    @property
    def buttons(self) -> Sequence[Button]:
        """Return the buttons that the receiver can distinguish."""
        ...

    def open_for_clicks(self) -> Place:
        """Open a target for clicks and return its position."""
        ...

    def open_for_drags(self) -> tuple[Place, Place]:
        """Open a target for a drag and return its start and end."""
        ...

    def open_for_wheel(self) -> Place:
        """Open a target that can scroll down two steps, and return its position."""
        ...

    def open_for_keys(self) -> None:
        """Open a target for keys and text, with the focus."""
        ...

    def is_pointer_at(self, place: Place) -> bool:
        """Return whether the pointer is at a place."""
        ...

    def has_clicked(self, button: Button, count: int) -> bool:
        """Return whether exactly these clicks arrived, at the position that was returned."""
        ...

    def has_dragged(self) -> bool:
        """Return whether the drag arrived."""
        ...

    def has_scrolled(self, steps: int) -> bool:
        """Return whether it has scrolled down by this number of wheel steps since it was opened."""
        ...

    def has_pressed(self, names: Sequence[str]) -> bool:
        """Return whether these keys had their effect."""
        ...

    def has_typed(self, text: str) -> bool:
        """Return whether exactly this text was typed."""
        ...


def is_near(one: Place, other: Place) -> bool:
    """Return whether two places are equal, except for rounding."""
    return all(abs(a - b) <= _TOLERANCE_PX for a, b in zip(one, other, strict=True))


def _ends(received: Iterable[tuple[object, ...]]) -> tuple[object, ...] | None:
    """Return where a drag, or a press and a release, began and ended; None if neither was complete."""
    rows = list(received)
    if [row[0] for row in rows] == ["press", "release"]:
        return rows[0][1], rows[1][1]
    if [row[0] for row in rows] == ["drag"]:
        places = [part for part in rows[0][1:] if isinstance(part, tuple)]
        return places[0], places[-1]
    return None


class FakeDesktopReceiver:
    """Receiver that reads the fake desktop's log."""

    has_pointer = True
    buttons = tuple(Button)

    def __init__(self, machine: FakeDesktop) -> None:
        self._machine = machine

    def open_for_clicks(self) -> Place:
        """Return the middle of the screen."""
        self._machine.state.received.clear()
        return 160, 100

    def open_for_drags(self) -> tuple[Place, Place]:
        """Return two places of the screen."""
        self._machine.state.received.clear()
        return (160, 100), (40, 150)

    def open_for_wheel(self) -> Place:
        """Return the middle of the screen."""
        return self.open_for_clicks()

    def open_for_keys(self) -> None:
        """Open the editor, with a line in it."""
        self._machine.open_app("Text Editor")
        self._machine.state.line = "x"

    def is_pointer_at(self, place: Place) -> bool:
        """Compare with the fake's pointer."""
        return self._machine.state.pointer == place

    def has_clicked(self, button: Button, count: int) -> bool:
        """Compare the log."""
        rows = [row[:4] for row in self._machine.state.received]  # without held keys
        return rows == [("click", (160, 100), button, count)]

    def has_dragged(self) -> bool:
        """Compare the ends of the drags in the log, or of a press and a release."""
        return _ends(self._machine.state.received) == ((160, 100), (40, 150))

    def has_scrolled(self, steps: int) -> bool:
        """Sum up the wheel."""
        rows = self._machine.state.received
        return sum(cast("int", row[3]) for row in rows if row[0] == "wheel") == steps

    def has_pressed(self, names: Sequence[str]) -> bool:
        """Return whether the single letter of the line was deleted."""
        assert list(names) == ["BackSpace"]
        return self._machine.state.line == ""

    def has_typed(self, text: str) -> bool:
        """Compare the editor's line."""
        return self._machine.state.line == f"x{text}"


class FakePhoneReceiver:
    """Receiver that reads the fake phone's log."""

    has_pointer = False
    buttons = (Button.LEFT,)

    def __init__(self, machine: FakePhone) -> None:
        self._machine = machine

    def open_for_clicks(self) -> Place:
        """Return a place next to the launcher's icons."""
        self._machine.state.received.clear()
        return 90, 300

    def open_for_drags(self) -> tuple[Place, Place]:
        """Return two places of the screen."""
        self._machine.state.received.clear()
        return (90, 300), (90, 100)

    def open_for_wheel(self) -> Place:
        """Return a place of the screen."""
        return self.open_for_clicks()

    def open_for_keys(self) -> None:
        """Open an application with a field."""
        self._machine.open_app("Tasks")

    def is_pointer_at(self, place: Place) -> bool:
        """Raise: there is none."""
        raise AssertionError(place)

    def has_clicked(self, button: Button, count: int) -> bool:
        """Compare the log."""
        return list(self._machine.state.received) == [("click", (90, 300), button, count)]

    def has_dragged(self) -> bool:
        """Compare the ends of the drags in the log, or of a press and a release."""
        return _ends(self._machine.state.received) == ((90, 300), (90, 100))

    def has_scrolled(self, steps: int) -> bool:
        """Sum up the wheel."""
        rows = self._machine.state.received
        return sum(cast("int", row[3]) for row in rows if row[0] == "wheel") == steps

    def has_pressed(self, names: Sequence[str]) -> bool:
        """Return whether the launcher is in front again."""
        assert list(names) == ["HOME"]
        return self._machine.elements()[0].name.endswith("launcher")

    def has_typed(self, text: str) -> bool:
        """Compare the field's text."""
        return self._machine.state.line == text


class XevReceiver:
    """The program ``xev`` on a desktop, which reports the input that X11 delivers.

    Args:
        machine: a desktop with X11, x11-utils and xdotool.
        folder: folder that is writable for the agent's user.
        user: name of the agent's user.
    """

    has_pointer = True
    buttons = tuple(Button)
    _POINTER = re.compile(
        r"Button(Press|Release) event.*?root:\((\d+),(\d+)\).*?button (\d+)", re.DOTALL
    )
    _KEY = re.compile(r"KeyPress event.*?\(keysym 0x([0-9a-f]+), ([^)]*)\)", re.DOTALL)
    _number = itertools.count()

    def __init__(self, machine: Machine, folder: str, *, user: str = "user") -> None:
        self._machine = machine
        self._user = user
        self._folder = folder
        self._log = ""
        self._place = (0, 0)

    def __repr__(self) -> str:
        """Return what arrived, for messages of failed tests."""
        return f"XevReceiver({self._events() if self._log else []}, place={self._place})"

    def open_for_clicks(self) -> Place:
        """Open a window and return its middle."""
        title = f"received-{next(self._number)}"
        self._log = f"{self._folder}/{title}.log"
        events = "-event button -event keyboard"
        script = (
            f"read old < {self._folder}/receiver.pid && kill $old; echo $$ > {self._folder}/receiver.pid; "
            f"exec xev {events} -name {title} -geometry 400x300+300+200 > {self._log} 2>&1"
        )
        self._machine.link.call("launch", {"argv": ["/bin/sh", "-c", script]}, timeout_s=30)
        window = wait_until(lambda: self._find_at_rest(title), timeout_s=OPEN_TIMEOUT_S)
        assert window, self._machine.link.call("windows")
        left, top, width, height = cast("list[int]", window["geometry"])
        self._place = (left + width // 2, top + height // 2)
        return self._place

    def _find_at_rest(self, title: str) -> dict[str, object] | None:
        """Return the window once it stops changing, because a busy window manager places it late."""
        before = self._find(title)
        SYSTEM_CLOCK.sleep(_REST_S)
        return before if before and before == self._find(title) else None

    def _find(self, title: str) -> dict[str, object] | None:
        rows = cast("list[dict[str, object]]", self._machine.link.call("windows", timeout_s=30))
        return next((row for row in rows if row["title"] == title), None)

    def open_for_drags(self) -> tuple[Place, Place]:
        """Open a window and return two places in it."""
        x, y = self.open_for_clicks()
        self._drag = (x - 50, y - 50), (x + 60, y + 40)
        return self._drag

    def open_for_wheel(self) -> Place:
        """Open a window and return its middle."""
        return self.open_for_clicks()

    def open_for_keys(self) -> None:
        """Open a window and wait until it has the focus."""
        self.open_for_clicks()
        title = self._log.rpartition("/")[2].removesuffix(".log")

        def has_focus() -> bool:
            window = self._find(title)
            return bool(window and window["active"])

        # Some window managers focus a window only after a click.
        if not wait_until(has_focus, timeout_s=3):
            self._machine.input.click(*self._place)
            assert wait_until(has_focus, timeout_s=OPEN_TIMEOUT_S)

    def is_pointer_at(self, place: Place) -> bool:
        """Query the X server."""
        argv: list[Json] = ["xdotool", "getmouselocation"]
        reply = cast(
            "dict[str, str]",
            self._machine.link.call("exec", {"argv": argv, "user": self._user}, timeout_s=30),
        )
        output = base64.b64decode(reply["stdout_b64"]).decode()
        match = re.match(r"x:(\d+) y:(\d+)", output)
        assert match, reply
        return is_near((int(match[1]), int(match[2])), place)

    def _text(self) -> str:
        return self._machine.files.get(self._log).decode()

    def _events(self) -> list[tuple[str, Place, int]]:
        return [
            (kind, (int(x), int(y)), int(button))
            for kind, x, y, button in self._POINTER.findall(self._text())
        ]

    def has_clicked(self, button: Button, count: int) -> bool:
        """Compare presses and releases."""
        events = self._events()
        wanted = [("Press", _BUTTONS[button]), ("Release", _BUTTONS[button])] * count
        return [(kind, number) for kind, _, number in events] == wanted and all(
            is_near(place, self._place) for _, place, _ in events
        )

    def has_dragged(self) -> bool:
        """Compare press and release."""
        events = self._events()
        return [(kind, number) for kind, _, number in events] == [
            ("Press", 1),
            ("Release", 1),
        ] and all(
            is_near(place, end) for (_, place, _), end in zip(events, self._drag, strict=True)
        )

    def has_scrolled(self, steps: int) -> bool:
        """Count the wheel's buttons."""
        pressed = [button for kind, _, button in self._events() if kind == "Press"]
        return pressed.count(_WHEEL_DOWN) - pressed.count(_WHEEL_UP) == steps and bool(pressed)

    def _keys(self) -> list[tuple[int, str]]:
        return [(int(number, 16), name) for number, name in self._KEY.findall(self._text())]

    def has_pressed(self, names: Sequence[str]) -> bool:
        """Compare names of keys, without the side that a modifier is on."""
        return [name.partition("_")[0].lower() for _, name in self._keys()] == [
            {"ctrl": "control"}.get(name, name) for name in names
        ]

    def has_typed(self, text: str) -> bool:
        """Compare characters, without modifiers, which some of them require."""
        return "".join(map(self._char, self._keys())) == text

    def _char(self, key: tuple[int, str]) -> str:
        number, _ = key
        if number in _CONTROLS:
            return _CONTROLS[number]
        if number >= _UNICODE:
            return chr(number - _UNICODE)
        return chr(number) if number < 0x100 else ""


class PhoneReceiver:
    """Applications of the reference phone: dialer, drawer, tasks and contacts.

    Args:
        machine: the phone.
    """

    has_pointer = False
    buttons = (Button.LEFT,)
    _ROWS = "content://com.google.android.apps.tasks/tasks --bind title:s:Errand"

    def __init__(self, machine: ReferencePhone) -> None:
        self._machine = machine
        self._before: list[str] = []

    def _names(self) -> list[str]:
        return [element.name for element in self._machine.tree.elements() if element.name]

    def _find(self, is_it: Callable[[Element], bool]) -> Element:
        return next(element for element in self._machine.tree.elements() if is_it(element))

    def open_for_clicks(self) -> Place:
        """Open the dialer and return the position of its 5 key."""
        self._machine.shell("am start -a android.intent.action.DIAL -d tel:").require()
        return self._find(lambda element: element.name.startswith("5")).bounds.center

    def open_for_drags(self) -> tuple[Place, Place]:
        """Show the launcher, whose drawer a swipe opens."""
        self._machine.shell("input keyevent HOME").require()
        width, height = self._machine.screen.size()
        return (width // 2, height * 3 // 4), (width // 2, height // 4)

    def open_for_wheel(self) -> Place:
        """Open a long list of tasks."""
        script = f"for n in $(seq 10 49); do content insert --uri {self._ROWS}$n; done"
        self._machine.shell(f"{script}; am start -p com.google.android.apps.tasks").require()
        self._before = self._names()
        width, height = self._machine.screen.size()
        return width // 2, height // 2

    def open_for_keys(self) -> None:
        """Open the contacts and focus their search field."""
        self._machine.shell("am start -p com.google.android.contacts").require()
        self._machine.input.click(*self._search().bounds.center)

    def _search(self) -> Element:
        return self._find(lambda element: "open_search_bar" in element.resource_id)

    def is_pointer_at(self, place: Place) -> bool:
        """Raise: there is none."""
        raise AssertionError(place)

    def has_clicked(self, button: Button, count: int) -> bool:
        """Return whether as many digits were dialed."""
        assert button is Button.LEFT
        return "5" * count in self._names()

    def has_dragged(self) -> bool:
        """Return whether the drawer is open."""
        return "Search apps" in self._names()

    def has_scrolled(self, steps: int) -> bool:
        """Return whether the list has scrolled or, for 0 steps, is unchanged."""
        names = self._names()
        return names == self._before if steps == 0 else "Errand49" not in names

    def has_pressed(self, names: Sequence[str]) -> bool:
        """Return whether the launcher is in front."""
        assert list(names) == ["HOME"]
        return "Calendar" in self._names()

    def has_typed(self, text: str) -> bool:
        """Compare the field's text."""
        return self._search().name == text
