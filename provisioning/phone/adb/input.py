"""Input and UI hierarchy of a phone, over ADB."""

from __future__ import annotations

import base64
import hashlib
import math
import re
import shlex
import threading
from typing import TYPE_CHECKING

from defusedxml import DefusedXmlException, ElementTree

from foundation.clock import SYSTEM_CLOCK
from foundation.errors import GuestCallError, InvalidActionError, LinkProtocolError
from provisioning.phone.adb.touchscreen import find_touchscreen
from provisioning.protocols import Bounds, Button, Element

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from xml.etree.ElementTree import Element as XmlElement

    from foundation.clock import Clock
    from provisioning.phone.adb.device import AdbDevice
    from provisioning.phone.adb.screen import PhoneScreen
    from provisioning.phone.adb.touchscreen import Touchscreen
    from provisioning.protocols import Point

_TREE_TIMEOUT_S = 15.0
_INPUT_TIMEOUT_S = 15.0
_SCROLL_STEP_PX = 240
_SWIPE_POINTS = 2
_SIZE = re.compile(r"size: (\d+)x(\d+)")
_TEXT_CHUNK_CHARS = 1000
_MAX_NODES = 20_000
# An input method that types the text it receives: github.com/senzhk/ADBKeyBoard.
_KEYBOARD = "com.android.adbkeyboard/.AdbIME"
_BOUNDS = re.compile(r"\[(-?\d+),(-?\d+)\]\[(-?\d+),(-?\d+)\]")
_KEY = re.compile(r"[A-Za-z0-9_]{1,40}")
_LINE_BREAK = re.compile(r"(\r\n|\n|\t)")
_STATES = (
    "checkable",
    "checked",
    "clickable",
    "enabled",
    "focusable",
    "focused",
    "scrollable",
    "long-clickable",
    "password",
    "selected",
)


class PhoneInput:
    """`provisioning.protocols.Input` with the command ``input``.

    Android's ``input text`` types only characters that its virtual keyboard has keys for; others are
    typed with the input method ADBKeyBoard, if the phone has it. The reference phone's command
    accepts any Unicode text.

    Args:
        device: the phone.
        screen: returns the size of the screen; without it, the phone is asked.
    """

    def __init__(self, device: AdbDevice, screen: PhoneScreen | None = None) -> None:
        self._device = device
        self._screen = screen
        self._touchscreen: Touchscreen | None = None

    def move(self, x: int, y: int) -> None:
        """Do nothing: a phone has no pointer."""

    def click(
        self,
        x: int,
        y: int,
        *,
        button: Button = Button.LEFT,
        count: int = 1,
        held: Sequence[str] = (),
    ) -> None:
        """Tap `count` times; a phone has no buttons and no modifier keys."""
        del button, held
        self._script(*[["tap", str(x), str(y)]] * count)

    def button_down(self, x: int, y: int, *, button: Button = Button.LEFT) -> None:
        """Put a finger down and leave it there."""
        del button
        self._script(["motionevent", "DOWN", str(x), str(y)])

    def button_up(self, x: int, y: int, *, button: Button = Button.LEFT) -> None:
        """Move the finger to a position and lift it there."""
        del button
        self._script(*(["motionevent", kind, str(x), str(y)] for kind in ("MOVE", "UP")))

    def drag(
        self,
        path: Sequence[Point],
        *,
        button: Button = Button.LEFT,
        duration_s: float = 0.3,
        held: Sequence[str] = (),
    ) -> None:
        """Swipe along a path; two equal points are a long tap.

        ``input swipe`` knows only two points; a longer path is made of its single motions.
        """
        del button, held
        if len(path) == _SWIPE_POINTS:
            coordinates = [str(number) for point in path for number in point]
            self._script(["swipe", *coordinates, str(round(duration_s * 1000))])
            return
        kinds = ("DOWN", *("MOVE",) * (len(path) - 1), "UP")
        steps = zip(kinds, (*path, path[-1]), strict=True)
        motions = [["motionevent", kind, str(x), str(y)] for kind, (x, y) in steps]
        self._script(*motions, pause_s=duration_s / len(path))

    def gesture(self, paths: Sequence[Sequence[Point]], *, duration_s: float = 0.3) -> None:
        """Touch with several fingers, through the touchscreen's device file.

        Raises:
            InvalidActionError: the phone's shell may not write to its touchscreen.
        """
        if self._touchscreen is None:
            self._touchscreen = find_touchscreen(self._device)
        self._touchscreen.gesture(paths, self._screen_px(), duration_s)

    def scroll(self, x: int, y: int, *, dx: int = 0, dy: int = 0, held: Sequence[str] = ()) -> None:
        """Swipe by 240 px per step; positive `dy` scrolls down, positive `dx` right."""
        end = (max(0, x - dx * _SCROLL_STEP_PX), max(0, y - dy * _SCROLL_STEP_PX))
        self.drag(((x, y), end), held=held)

    def key(self, *names: str, hold_s: float = 0.0) -> None:
        """Press keys one after the other; holding is Android's long press, of its own duration.

        Raises:
            InvalidActionError: a key does not exist.
        """
        for name in names:
            if not _KEY.fullmatch(name):
                raise InvalidActionError(f"There is no key called {name!r}.")
        try:
            self._script(["keyevent", *(["--longpress"] if hold_s else []), *names])
        except GuestCallError as exc:
            raise InvalidActionError(
                f"The phone does not have all of these keys: {', '.join(names)}.",
                details=exc.details.splitlines()[0],
                resolution="Use Android's key names, such as HOME, BACK, ENTER.",
            ) from exc

    def key_down(self, *names: str) -> None:
        """Refuse: Android's command presses and releases keys at once.

        Raises:
            InvalidActionError: always.
        """
        raise InvalidActionError(f"A phone cannot keep {', '.join(names)} pressed.")

    key_up = key_down

    def text(self, text: str) -> None:
        """Type any Unicode text into the focused element.

        Raises:
            InvalidActionError: the phone cannot type some of the characters.
            GuestCallError: typing failed.
        """
        for part in _LINE_BREAK.split(text):
            if part in {"\n", "\r\n"}:
                self._script(["keyevent", "ENTER"])
            elif part == "\t":
                self._script(["keyevent", "TAB"])
            else:
                self._type(part)

    def _type(self, text: str) -> None:
        """Type one line; ``%s`` is split, as it would be typed as a space."""
        for piece in text.replace("%s", "%\0s").split("\0"):
            for start in range(0, len(piece), _TEXT_CHUNK_CHARS):
                self._type_chunk(piece[start : start + _TEXT_CHUNK_CHARS])

    def _type_chunk(self, text: str) -> None:
        """Type by keys; if a key is missing, Android types nothing."""
        try:
            self._script(["text", text])
        except GuestCallError as exc:
            if text.isascii():
                raise
            methods = self._device.shell("ime list -a -s", _INPUT_TIMEOUT_S)
            if _KEYBOARD not in methods.text.split():
                raise InvalidActionError(
                    f"This phone does not have keys for all characters of {text[:40]!r}.",
                    details=exc.details[:200],
                    resolution="Install the input method ADBKeyBoard on it, which types any character.",
                ) from exc
            self._type_by_method(text)

    def _type_by_method(self, text: str) -> None:
        """Type with ADBKeyBoard, then restore the phone's input method."""
        before = self._device.shell(
            "settings get secure default_input_method", _INPUT_TIMEOUT_S
        ).text
        message = base64.b64encode(text.encode()).decode()
        steps = [
            ["ime", "enable", _KEYBOARD],
            ["ime", "set", _KEYBOARD],
            ["am", "broadcast", "-a", "ADB_INPUT_B64", "--es", "msg", message],
        ]
        try:
            for step in steps:
                result = self._device.shell(shlex.join(step), _INPUT_TIMEOUT_S)
                if result.exit_code != 0:
                    raise GuestCallError("The phone's ADBKeyBoard did not type.", result.text)
        finally:
            if "/" in before:
                self._device.shell(shlex.join(["ime", "set", before]), _INPUT_TIMEOUT_S)

    def _screen_px(self) -> Point:
        if self._screen is not None:
            return self._screen.size()
        sizes = _SIZE.findall(self._device.shell("wm size", _INPUT_TIMEOUT_S).text)
        if not sizes:
            raise GuestCallError("The phone did not report the size of its screen.")
        width, height = sizes[-1]  # an override follows the physical size
        return int(width), int(height)

    def _script(self, *commands: Sequence[str], pause_s: float = 0.0) -> None:
        """Run ``input`` with each of the arguments, one after the other, in one shell."""
        pause = f" && sleep {pause_s:.3f} && " if pause_s else " && "
        line = pause.join(shlex.join(["input", *arguments]) for arguments in commands)
        timeout_s = _INPUT_TIMEOUT_S + len(commands) * pause_s
        result = self._device.shell(line, timeout_s)
        if result.exit_code != 0:
            output = (result.stderr or result.stdout).decode(errors="replace").strip()
            raise GuestCallError(
                f"The phone did not carry out input {commands[0][0]}.", details=output
            )


class PhoneTree:
    """`provisioning.protocols.Tree` with ``uiautomator dump``, once per frame.

    A dump takes seconds on real phones, so it is repeated only if the frame changed. The reference
    phone numbers its frames; on others, screenshots are compared if that is faster than a dump.

    Args:
        device: the phone.
        screen: identifies frames; without it, every call dumps.
        clock: clock used to measure dumps.
    """

    def __init__(
        self,
        device: AdbDevice,
        screen: PhoneScreen | None = None,
        *,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._device = device
        self._screen = screen
        self._clock = clock
        self._dump_s = math.inf
        self._lock = threading.Lock()
        self._kept: tuple[str, list[Element]] | None = None

    def elements(self) -> Sequence[Element]:
        """Return the visible elements in document order.

        Raises:
            LinkError: the phone did not answer, or sent no hierarchy.
        """
        with self._lock:
            frame = self._frame()
            if self._kept is None or not frame or self._kept[0] != frame:
                self._kept = frame, parse_hierarchy(self._dump())
            return list(self._kept[1])

    def _dump(self) -> str:
        """Return the output of a dump; one without a hierarchy is repeated once.

        Source: uiautomator prints "ERROR: could not get idle state" or "null root node returned"
        while the screen changes.
        """
        output = ""
        for _ in range(2):
            start_s = self._clock.monotonic_s()
            raw = self._device.read("uiautomator dump /dev/tty", _TREE_TIMEOUT_S)
            self._dump_s = self._clock.monotonic_s() - start_s
            output = raw.decode(errors="replace")
            if "</hierarchy>" in output:
                break
        return output

    def forget(self) -> None:
        """Drop the cached hierarchy, for example because the phone is rewound."""
        with self._lock:
            self._kept = None

    def _frame(self) -> str:
        """Return an identifier of the current screen content; empty if unknown."""
        if self._screen is None:
            return ""
        if number := self._screen.frames.read():
            return number
        costs_s = self._screen.costs_s
        if costs_s and self._dump_s < min(costs_s.values()):
            return ""
        return hashlib.sha256(self._screen.capture().tobytes()).hexdigest()


def parse_hierarchy(output: str) -> list[Element]:
    """Parse the output of ``uiautomator dump /dev/tty``: XML, then a closing message.

    Raises:
        LinkProtocolError: the output contains no valid hierarchy.
    """
    start, end = output.find("<"), output.rfind("</hierarchy>")
    if start < 0 or end < 0:
        raise LinkProtocolError("The phone sent no UI hierarchy.", details=output[:400])
    try:
        root = ElementTree.fromstring(output[start : end + len("</hierarchy>")])
    except (ElementTree.ParseError, DefusedXmlException, ValueError) as exc:
        raise LinkProtocolError("The phone sent an invalid UI hierarchy.", str(exc)) from exc
    return list(_read_nodes(root))


def _read_nodes(root: XmlElement) -> Iterator[Element]:
    """Yield the nodes in document order, without recursion, so that any depth is possible."""
    waiting = [(node, 0) for node in reversed(root.findall("node"))]
    count = 0
    while waiting:
        node, depth = waiting.pop()
        waiting += [(child, depth + 1) for child in reversed(node.findall("node"))]
        count += 1
        if count > _MAX_NODES:
            raise LinkProtocolError(f"The UI hierarchy has more than {_MAX_NODES} nodes.")
        if bounds := _BOUNDS.fullmatch(node.get("bounds", "")):
            yield Element(
                role=node.get("class", ""),
                name=node.get("text") or node.get("content-desc") or "",
                bounds=Bounds(*(int(number) for number in bounds.groups())),
                states=frozenset(state for state in _STATES if node.get(state) == "true"),
                resource_id=node.get("resource-id", ""),
                depth=depth,
            )
