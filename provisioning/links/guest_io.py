"""Screen, input and tree through the probe, for machines without screen and input on the host."""

from __future__ import annotations

import base64
import contextlib
import io
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from PIL import Image
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from foundation.clock import SYSTEM_CLOCK
from foundation.errors import (
    GuestCallError,
    InvalidActionError,
    LinkProtocolError,
    LinkTimeoutError,
)
from foundation.host_load import stretched
from provisioning.links.files_over_link import LinkFiles
from provisioning.probe.display.keys import keysym_of_character
from provisioning.probe.errors import ProbeError
from provisioning.protocols import Bounds, Button, Element, Search

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from foundation.clock import Clock
    from provisioning.protocols import Frame, Json, Link, Point

MAX_SCREEN_PX = 1 << 26
_MAX_NODES = 5000
_SEARCH_TIMEOUT_S = 20.0
_WINDOW_DEPTH = 1
"""Depth of windows in the probe's rows, below applications."""
# Input that is slow, because the host is busy, must not be taken for a session that the agent blocked.
_INPUT_TIMEOUT_S = 60.0
_PART_CHARS = 200
_PART_TIMEOUT_S = 90.0
_MOST_IDLE_PARTS = 3


class _ScreenshotReply(BaseModel):
    model_config = ConfigDict(strict=True)

    width: int = Field(gt=0)
    height: int = Field(gt=0)
    png_b64: str = ""
    path: str = ""


class PreparedKeys(BaseModel):
    """How a keyboard presses keys together.

    Attributes:
        codes: X keycodes, to press in this order and to release in reverse.
        is_bound: whether some of them have their meaning only until `LinkInput.finish_keys`.
    """

    model_config = ConfigDict(strict=True, frozen=True)

    codes: list[int] = Field(min_length=1)
    is_bound: bool


class _Typed(BaseModel):
    model_config = ConfigDict(strict=True)

    typed: int = Field(ge=0)


class _Node(BaseModel):
    model_config = ConfigDict(strict=True)

    role: str
    name: str
    bounds: list[int] = Field(min_length=4, max_length=4)
    states: list[str]
    depth: int = Field(ge=0)


class _Found(BaseModel):
    model_config = ConfigDict(strict=True)

    nodes: list[_Node]
    cut: str


_NODES = TypeAdapter(list[_Node])


_Model = TypeVar("_Model", bound=BaseModel)


class LinkScreen:
    """`provisioning.protocols.Screen` with mss in the guest.

    Args:
        link: link to the probe.
        timeout_s: time limit of one screenshot.
    """

    def __init__(self, link: Link, *, timeout_s: float = 15.0) -> None:
        self._link = link
        self._timeout_s = timeout_s

    def capture(self) -> Frame:
        """Take a screenshot: uint8 array (H, W, 3), RGB, origin top left.

        Raises:
            GuestCallError: there is no graphical session.
            LinkProtocolError: the guest sent no valid screenshot.
        """
        reply = self._link.call("screenshot", timeout_s=self._timeout_s)
        try:
            shot = _ScreenshotReply.model_validate(reply)
            png = base64.b64decode(shot.png_b64, validate=True)
        except ValueError as exc:
            raise _invalid_screenshot(exc) from exc
        if shot.path:
            png = LinkFiles(self._link, timeout_s=self._timeout_s).get(shot.path)
        return _read_png(png, shot)

    def size(self) -> tuple[int, int]:
        """Return width and height in px; raises as `capture` does."""
        height, width, _ = self.capture().shape
        return width, height


def _read_png(png: bytes, shot: _ScreenshotReply) -> Frame:
    reported_size = (shot.width, shot.height)
    try:
        with Image.open(io.BytesIO(png), formats=["PNG"]) as image:
            has_reported_size = (
                image.size == reported_size and shot.width * shot.height <= MAX_SCREEN_PX
            )
            frame = np.asarray(image.convert("RGB")) if has_reported_size else None
    except (ValueError, OSError) as exc:
        raise _invalid_screenshot(exc) from exc
    if frame is None:
        raise _invalid_screenshot(f"its size is {image.size} px, not {reported_size} as reported")
    return frame


def _invalid_screenshot(why: object) -> LinkProtocolError:
    return LinkProtocolError("The probe sent an invalid screenshot.", details=str(why)[:500])


class LinkInput:
    """`provisioning.protocols.Input` with XTest in the guest.

    Args:
        link: link to the probe.
        timeout_s: time limit of one input action; each part of a text has its own.
        clock: clock used to hold keys.
    """

    def __init__(
        self, link: Link, *, timeout_s: float = _INPUT_TIMEOUT_S, clock: Clock = SYSTEM_CLOCK
    ) -> None:
        self._link = link
        self._timeout_s = timeout_s
        self._clock = clock

    def move(self, x: int, y: int) -> None:
        """Move the pointer to a position, screen px."""
        self._act("move", x=x, y=y)

    def click(
        self,
        x: int,
        y: int,
        *,
        button: Button = Button.LEFT,
        count: int = 1,
        held: Sequence[str] = (),
    ) -> None:
        """Click `count` times."""
        self._act("click", x=x, y=y, button=button.value, count=count, held=list(held))

    def button_down(self, x: int, y: int, *, button: Button = Button.LEFT) -> None:
        """Press a button at a position and keep it pressed."""
        self._act("press", x=x, y=y, button=button.value)

    def button_up(self, x: int, y: int, *, button: Button = Button.LEFT) -> None:
        """Move to a position and release a button there."""
        self._act("release", x=x, y=y, button=button.value)

    def drag(
        self,
        path: Sequence[Point],
        *,
        button: Button = Button.LEFT,
        duration_s: float = 0.3,
        held: Sequence[str] = (),
    ) -> None:
        """Press at the first point, move along the others and release at the last."""
        self._act(
            "drag",
            timeout_s=self._timeout_s + duration_s,
            path=[[x, y] for x, y in path],
            button=button.value,
            duration_s=duration_s,
            held=list(held),
        )

    def scroll(self, x: int, y: int, *, dx: int = 0, dy: int = 0, held: Sequence[str] = ()) -> None:
        """Turn the wheel by clicks at a position; positive `dy` scrolls down, `dx` right."""
        self._act("scroll", x=x, y=y, dx=dx, dy=dy, held=list(held))

    def key(self, *names: str, hold_s: float = 0.0) -> None:
        """Press keys together, then release them.

        Raises:
            InvalidActionError: a key does not exist, or the guest's keyboard cannot have it.
        """
        if not hold_s:
            self._act("key", names=list(names))
            return
        self.key_down(*names)
        try:
            self._clock.sleep(hold_s)
        finally:
            self.key_up(*names)

    def key_down(self, *names: str) -> None:
        """Press keys and keep them pressed.

        Raises:
            InvalidActionError: a key does not exist, or the present layout has no key for it.
        """
        self._act("key_down", names=list(names))

    def key_up(self, *names: str) -> None:
        """Release keys in reverse.

        Raises:
            InvalidActionError: a key does not exist, or the present layout has no key for it.
        """
        self._act("key_up", names=list(names))

    def text(self, text: str) -> None:
        """Type any Unicode text into the focused element.

        A slow guest gets the time that it needs: the text is sent in parts, and what was not typed
        within a part's time limit is sent again.

        Raises:
            InvalidActionError: no key types some character; nothing was typed if it is a control
                character.
            LinkTimeoutError: nothing at all was typed for several time limits.
        """
        _require_typeable(text)
        idle_parts = 0
        while text:
            part = text[:_PART_CHARS]
            reply = self._act("text", timeout_s=_PART_TIMEOUT_S, text=part)
            typed = _valid(_Typed, reply).typed
            text = text[typed:]
            idle_parts = 0 if typed else idle_parts + 1
            if idle_parts == _MOST_IDLE_PARTS:
                raise LinkTimeoutError(
                    "The guest types nothing.", details=f"{len(text)} characters are left."
                )

    def prepare_keys(
        self, names: Sequence[str], codes: Sequence[int], *, may_bind: bool = True
    ) -> PreparedKeys:
        """Return how another keyboard presses keys together, under the guest's present layout.

        What the layout lacks is bound to spare keys; call `finish_keys` then.

        Args:
            names: names of the keys.
            codes: X keycodes that the keyboard can send.
            may_bind: whether keys that the layout lacks may be bound.

        Raises:
            InvalidActionError: a key does not exist, or this keyboard cannot press it.
        """
        params: dict[str, Json] = {
            "names": list(names),
            "codes": list(codes),
            "may_bind": may_bind,
        }
        with _refusals("key"):
            reply = self._link.call("prepare_keys", params, timeout_s=self._timeout_s)
        return _valid(PreparedKeys, reply)

    def finish_keys(self) -> None:
        """Wait until the prepared keys were read; bound ones get their meaning back then."""
        self._link.call("finish_keys", timeout_s=self._timeout_s)

    def _act(self, kind: str, *, timeout_s: float | None = None, **params: Json) -> Json:
        with _refusals(kind):
            return self._link.call(
                "input", {"kind": kind, **params}, timeout_s=timeout_s or self._timeout_s
            )


def _valid(model: type[_Model], reply: Json) -> _Model:
    """Read a reply of the probe.

    Raises:
        LinkProtocolError: it is invalid.
    """
    try:
        return model.model_validate(reply)
    except ValueError as exc:
        raise LinkProtocolError("The probe sent an invalid reply.", str(exc)[:500]) from exc


@contextlib.contextmanager
def _refusals(kind: str) -> Iterator[None]:
    """Map what the probe refuses to an error of the agent's.

    Raises:
        InvalidActionError: the probe refused the action.
    """
    try:
        yield
    except GuestCallError as exc:
        if exc.kind in {"unknown_key", "bad_params", "unsupported"}:
            raise InvalidActionError(f"The input action {kind!r} is invalid.", exc.details) from exc
        raise


def _require_typeable(text: str) -> None:
    """Refuse a text with a control character before a part of it is typed.

    Raises:
        InvalidActionError: it has one.
    """
    for char in dict.fromkeys(text):
        try:
            keysym_of_character(char)
        except ProbeError as exc:
            raise InvalidActionError("The input action 'text' is invalid.", str(exc)) from exc


class LinkTree:
    """`provisioning.protocols.Tree` with AT-SPI in the guest.

    Args:
        link: link to the probe.
        timeout_s: time limit of the traversal, which then returns what it has found.
    """

    def __init__(self, link: Link, *, timeout_s: float = 10.0) -> None:
        self._link = link
        self._timeout_s = timeout_s

    def elements(self) -> Sequence[Element]:
        """Return the visible elements in document order.

        Raises:
            GuestCallError: there is no graphical session, or it has no accessibility bus.
            LinkProtocolError: the guest sent an invalid list.
        """
        return self._read("tree")

    def recent_elements(self) -> Sequence[Element]:
        """Return the visible elements, read again only if a program reported a change.

        Raises:
            GuestCallError: there is no graphical session, or it has no accessibility bus.
            LinkProtocolError: the guest sent an invalid list.
        """
        return self._read("recent_tree")

    def _read(self, op: str) -> Sequence[Element]:
        timeout_s = stretched(self._timeout_s)
        reply = self._link.call(op, {"max_nodes": _MAX_NODES}, timeout_s=timeout_s)
        try:
            nodes = _NODES.validate_python(reply)
        except ValueError as exc:
            raise _invalid_tree(exc) from exc
        # The bus lists applications and their windows; the windows are the roots here.
        return _elements(nodes, min((node.depth for node in nodes), default=0))

    def search(self, *, name: str | None, role: str | None, count: int = 1) -> Search:
        """Return the visible elements with a name and role, at least `count` if they exist.

        First those in open menus and dialogs, then in the active window, then others.

        Raises:
            GuestCallError: there is no graphical session, or it has no accessibility bus.
            LinkProtocolError: the guest sent an invalid list.
        """
        wanted: dict[str, Json] = {"name": name, "role": role, "count": count}
        params = {key: value for key, value in wanted.items() if value is not None}
        timeout_s = stretched(max(self._timeout_s, _SEARCH_TIMEOUT_S))
        reply = self._link.call("find", params, timeout_s=timeout_s)
        try:
            found = _Found.model_validate(reply)
        except ValueError as exc:
            raise _invalid_tree(exc) from exc
        return Search(_elements(found.nodes, _WINDOW_DEPTH), found.cut)


def _elements(nodes: Sequence[_Node], root: int) -> list[Element]:
    return [
        Element(
            role=node.role,
            name=node.name,
            bounds=Bounds(*node.bounds),
            states=frozenset(node.states),
            depth=node.depth - root,
        )
        for node in nodes
    ]


def _invalid_tree(why: ValueError) -> LinkProtocolError:
    return LinkProtocolError(
        "The probe sent an invalid accessibility tree.", details=str(why)[:500]
    )
