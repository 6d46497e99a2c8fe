"""A phone's input and UI hierarchy, over ADB."""

from __future__ import annotations

import base64
import hashlib
import math
import re
import shlex
import threading
from typing import TYPE_CHECKING

from defusedxml import DefusedXmlException, ElementTree

from appliance.base.clock import SYSTEM_CLOCK
from appliance.base.errors import GuestCallError, InvalidActionError, LinkProtocolError
from provisioning.protocols import Bounds, Button, Element

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from xml.etree.ElementTree import Element as XmlElement

    from appliance.base.clock import Clock
    from provisioning.phone.adb.device import AdbDevice
    from provisioning.phone.adb.screen import PhoneScreen

_TREE_TIMEOUT_S = 15.0
_INPUT_TIMEOUT_S = 15.0
_SCROLL_STEP_PX = 240
_TEXT_CHUNK_CHARS = 1000
_MAX_NODES = 20_000
# An input method that types what it is sent: github.com/senzhk/ADBKeyBoard.
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
    """`provisioning.protocols.Input` by the command ``input``.

    Android's ``input text`` types only what its virtual keyboard has keys for; other letters go
    through the input method ADBKeyBoard, when the phone has it. The reference phone's command
    takes any Unicode.

    Args:
        device: the phone.
    """

    def __init__(self, device: AdbDevice) -> None:
        self._device = device

    def move(self, x: int, y: int) -> None:
        """Do nothing: a phone has no pointer."""

    def click(self, x: int, y: int, *, button: Button = Button.LEFT, count: int = 1) -> None:
        """Tap `count` times; a phone knows no buttons."""
        del button
        for _ in range(count):
            self._run("tap", str(x), str(y))

    def drag(
        self, start: tuple[int, int], end: tuple[int, int], *, duration_s: float = 0.3
    ) -> None:
        """Swipe; at one place it is a long tap."""
        places = [str(number) for number in (*start, *end)]
        self._run("swipe", *places, str(round(duration_s * 1000)))

    def scroll(self, x: int, y: int, *, dx: int = 0, dy: int = 0) -> None:
        """Swipe by 240 px a step; positive `dy` shows what is further down."""
        end = (max(0, x - dx * _SCROLL_STEP_PX), max(0, y - dy * _SCROLL_STEP_PX))
        self.drag((x, y), end)

    def key(self, *names: str) -> None:
        """Press keys one after the other.

        Raises:
            InvalidActionError: there is no such key.
        """
        for name in names:
            if not _KEY.fullmatch(name):
                raise InvalidActionError(f"There is no key called {name!r}.")
        try:
            self._run("keyevent", *names)
        except GuestCallError as exc:
            raise InvalidActionError(
                f"A phone has no key of these: {', '.join(names)}.",
                details=exc.details.splitlines()[0],
                resolution="Use Android's names, such as HOME, BACK, ENTER.",
            ) from exc

    def text(self, text: str) -> None:
        """Type any Unicode text into what has the focus.

        Raises:
            InvalidActionError: the phone has no way to type some of the letters.
            GuestCallError: it could not type.
        """
        for part in _LINE_BREAK.split(text):
            if part in {"\n", "\r\n"}:
                self._run("keyevent", "ENTER")
            elif part == "\t":
                self._run("keyevent", "TAB")
            else:
                self._type(part)

    def _type(self, text: str) -> None:
        """Type one line; ``%s`` would be typed as a blank, so it is cut in two."""
        for piece in text.replace("%s", "%\0s").split("\0"):
            for start in range(0, len(piece), _TEXT_CHUNK_CHARS):
                self._type_chunk(piece[start : start + _TEXT_CHUNK_CHARS])

    def _type_chunk(self, text: str) -> None:
        """Type by keys; Android types either all of it or, when one key is missing, nothing."""
        try:
            self._run("text", text)
        except GuestCallError as exc:
            if text.isascii():
                raise
            methods = self._device.shell("ime list -a -s", _INPUT_TIMEOUT_S)
            if _KEYBOARD not in methods.text.split():
                raise InvalidActionError(
                    f"This phone has no keys for all of {text[:40]!r}.",
                    details=exc.details[:200],
                    resolution="Install the input method ADBKeyBoard on it: it types any letter.",
                ) from exc
            self._type_by_method(text)

    def _type_by_method(self, text: str) -> None:
        """Type through ADBKeyBoard, and return the phone its own input method back."""
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

    def _run(self, *arguments: str) -> None:
        result = self._device.shell(shlex.join(["input", *arguments]), _INPUT_TIMEOUT_S)
        if result.exit_code != 0:
            output = (result.stderr or result.stdout).decode(errors="replace").strip()
            raise GuestCallError(
                f"The phone did not carry out input {arguments[0]}.", details=output
            )


class PhoneTree:
    """`provisioning.protocols.Tree` by ``uiautomator dump``, once a frame.

    A dump takes seconds on real phones. It is read again when the phone shows another frame: the
    reference phone numbers them; elsewhere the picture itself is compared, if that is quicker
    than another dump.

    Args:
        device: the phone.
        screen: knows the frames; without it every call dumps.
        clock: measures dumps and pictures.
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
                start_s = self._clock.monotonic_s()
                output = self._device.read("uiautomator dump /dev/tty", _TREE_TIMEOUT_S)
                self._dump_s = self._clock.monotonic_s() - start_s
                self._kept = frame, parse_hierarchy(output.decode(errors="replace"))
            return list(self._kept[1])

    def forget(self) -> None:
        """Forget the last hierarchy, for example because the phone goes back to a snapshot."""
        with self._lock:
            self._kept = None

    def _frame(self) -> str:
        """Return a word for what is on the screen now; empty when it is unknown."""
        if self._screen is None:
            return ""
        if number := self._screen.frames.read():
            return number
        costs_s = self._screen.costs_s
        if costs_s and self._dump_s < min(costs_s.values()):
            return ""
        return hashlib.sha256(self._screen.capture().tobytes()).hexdigest()


def parse_hierarchy(output: str) -> list[Element]:
    """Read what ``uiautomator dump /dev/tty`` prints: XML, then its closing words.

    Raises:
        LinkProtocolError: there is no hierarchy in it.
    """
    start, end = output.find("<"), output.rfind("</hierarchy>")
    if start < 0 or end < 0:
        raise LinkProtocolError("The phone sent no UI hierarchy.", details=output[:400])
    try:
        root = ElementTree.fromstring(output[start : end + len("</hierarchy>")])
    except (ElementTree.ParseError, DefusedXmlException, ValueError) as exc:
        raise LinkProtocolError("The phone sent a broken UI hierarchy.", str(exc)) from exc
    return list(_read_nodes(root))


def _read_nodes(root: XmlElement) -> Iterator[Element]:
    """Return the nodes in document order; no recursion, so that no depth is too deep."""
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
