"""A phone's screen, input and UI hierarchy, over ADB."""

from __future__ import annotations

import io
import re
import shlex
from typing import TYPE_CHECKING

import numpy as np
from defusedxml import DefusedXmlException, ElementTree
from PIL import Image, UnidentifiedImageError

from appliance.base.errors import GuestCallError, InvalidActionError, LinkProtocolError
from provisioning.protocols import Bounds, Button, Element

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from xml.etree.ElementTree import Element as XmlElement

    from provisioning.docker.adb_device import AdbDevice
    from provisioning.protocols import Frame

_SCREEN_TIMEOUT_S = 15.0
_INPUT_TIMEOUT_S = 15.0
_SCROLL_STEP_PX = 240
_TEXT_CHUNK_CHARS = 1000
_MAX_PIXELS = 8192 * 8192
_MAX_NODES = 20_000
_SIZE = re.compile(r"(Override|Physical) size: (\d+)x(\d+)")
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


class PhoneScreen:
    """`provisioning.protocols.Screen` by ``screencap -p``.

    Args:
        device: the phone.
    """

    def __init__(self, device: AdbDevice) -> None:
        self._device = device

    def capture(self) -> Frame:
        """Take a picture: uint8 array (H, W, 3), RGB, origin top left.

        Raises:
            LinkError: the phone did not answer, or sent no picture.
        """
        png = self._device.read("screencap -p", _SCREEN_TIMEOUT_S)
        try:
            with Image.open(io.BytesIO(png), formats=["PNG"]) as image:
                if image.width * image.height > _MAX_PIXELS:
                    raise LinkProtocolError("The phone sent too large a picture.")
                return np.array(image.convert("RGB"))
        except (UnidentifiedImageError, OSError, ValueError, SyntaxError) as exc:
            raise LinkProtocolError(
                "The phone sent no picture.", details=png[:200].decode(errors="replace")
            ) from exc

    def size(self) -> tuple[int, int]:
        """Give width and height in px.

        Raises:
            LinkError: the phone did not say.
        """
        said = self._device.shell("wm size", _INPUT_TIMEOUT_S).text
        sizes = {kind: (int(width), int(height)) for kind, width, height in _SIZE.findall(said)}
        if not sizes:
            raise LinkProtocolError("The phone did not tell the size of its screen.", details=said)
        return sizes.get("Override", sizes.get("Physical", (0, 0)))


class PhoneInput:
    """`provisioning.protocols.Input` by the command ``input``.

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
        """Type any Unicode text into what has the focus."""
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
                self._run("text", piece[start : start + _TEXT_CHUNK_CHARS])

    def _run(self, *words: str) -> None:
        result = self._device.shell(shlex.join(["input", *words]), _INPUT_TIMEOUT_S)
        if result.exit_code != 0:
            said = (result.stderr or result.stdout).decode(errors="replace").strip()
            raise GuestCallError(f"The phone did not carry out input {words[0]}.", details=said)


class PhoneTree:
    """`provisioning.protocols.Tree` by ``uiautomator dump``.

    Args:
        device: the phone.
    """

    def __init__(self, device: AdbDevice) -> None:
        self._device = device

    def elements(self) -> Sequence[Element]:
        """Give the visible elements in document order.

        Raises:
            LinkError: the phone did not answer, or sent no hierarchy.
        """
        said = self._device.read("uiautomator dump /dev/tty", _SCREEN_TIMEOUT_S)
        return parse_hierarchy(said.decode(errors="replace"))


def parse_hierarchy(said: str) -> list[Element]:
    """Read what ``uiautomator dump /dev/tty`` prints: XML, then its closing words.

    Raises:
        LinkProtocolError: there is no hierarchy in it.
    """
    start, end = said.find("<"), said.rfind("</hierarchy>")
    if start < 0 or end < 0:
        raise LinkProtocolError("The phone sent no UI hierarchy.", details=said[:400])
    try:
        root = ElementTree.fromstring(said[start : end + len("</hierarchy>")])
    except (ElementTree.ParseError, DefusedXmlException, ValueError) as exc:
        raise LinkProtocolError("The phone sent a broken UI hierarchy.", str(exc)) from exc
    return list(_read_nodes(root))


def _read_nodes(root: XmlElement) -> Iterator[Element]:
    """Give the nodes in document order; no recursion, so that no depth is too deep."""
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
