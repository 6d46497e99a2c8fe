"""Screen, input and tree through the probe: for machines with no eyes and hands on the host."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from appliance.base.errors import GuestCallError, InvalidActionError, LinkProtocolError
from provisioning.links.files_over_link import LinkFiles
from provisioning.protocols import Bounds, Button, Element

if TYPE_CHECKING:
    from collections.abc import Sequence

    from provisioning.protocols import Frame, Json, Link

MAX_SCREEN_PX = 1 << 26
_MAX_NODES = 5000


class _Shot(BaseModel):
    model_config = ConfigDict(strict=True)

    width: int = Field(gt=0)
    height: int = Field(gt=0)
    png_b64: str = ""
    path: str = ""


class _Node(BaseModel):
    model_config = ConfigDict(strict=True)

    role: str
    name: str
    bounds: list[int] = Field(min_length=4, max_length=4)
    states: list[str]
    depth: int = Field(ge=0)


_NODES = TypeAdapter(list[_Node])


class LinkScreen:
    """`provisioning.protocols.Screen` by mss in the guest.

    Args:
        link: to the probe.
        timeout_s: deadline of one picture.
    """

    def __init__(self, link: Link, *, timeout_s: float = 15.0) -> None:
        self._link = link
        self._timeout_s = timeout_s

    def capture(self) -> Frame:
        """Take a picture: uint8 array (H, W, 3), RGB, origin top left.

        Raises:
            GuestCallError: there is no session to take one of.
            LinkProtocolError: the guest sent no picture.
        """
        reply = self._link.call("screenshot", timeout_s=self._timeout_s)
        try:
            shot = _Shot.model_validate(reply)
            png = base64.b64decode(shot.png_b64, validate=True)
        except ValueError as exc:
            raise _no_picture(exc) from exc
        if shot.path:
            png = LinkFiles(self._link, timeout_s=self._timeout_s).get(shot.path)
        return _read_png(png, shot)

    def size(self) -> tuple[int, int]:
        """Return width and height in px; raises as `capture` does."""
        height, width, _ = self.capture().shape
        return width, height


def _read_png(png: bytes, shot: _Shot) -> Frame:
    reported_size = (shot.width, shot.height)
    try:
        with Image.open(io.BytesIO(png), formats=["PNG"]) as image:
            is_as_reported = (
                image.size == reported_size and shot.width * shot.height <= MAX_SCREEN_PX
            )
            frame = np.asarray(image.convert("RGB")) if is_as_reported else None
    except (ValueError, OSError) as exc:
        raise _no_picture(exc) from exc
    if frame is None:
        raise _no_picture(f"a picture of {image.size} px, {reported_size} was told")
    return frame


def _no_picture(why: object) -> LinkProtocolError:
    return LinkProtocolError("The probe sent no usable picture.", details=str(why)[:500])


class LinkInput:
    """`provisioning.protocols.Input` by pyautogui and xdotool in the guest.

    Args:
        link: to the probe.
        timeout_s: deadline of one act; typing gets more for long texts.
    """

    def __init__(self, link: Link, *, timeout_s: float = 15.0) -> None:
        self._link = link
        self._timeout_s = timeout_s

    def move(self, x: int, y: int) -> None:
        """Put the pointer at a place, screen px."""
        self._act("move", x=x, y=y)

    def click(self, x: int, y: int, *, button: Button = Button.LEFT, count: int = 1) -> None:
        """Click `count` times."""
        self._act("click", x=x, y=y, button=button.value, count=count)

    def drag(
        self, start: tuple[int, int], end: tuple[int, int], *, duration_s: float = 0.3
    ) -> None:
        """Press the left button, move and release."""
        self._act("drag", x=start[0], y=start[1], to_x=end[0], to_y=end[1], duration_s=duration_s)

    def scroll(self, x: int, y: int, *, dx: int = 0, dy: int = 0) -> None:
        """Turn the wheel by clicks at a place; positive `dy` shows what is further down."""
        self._act("scroll", x=x, y=y, dx=dx, dy=dy)

    def key(self, *names: str) -> None:
        """Press keys together and release them.

        Raises:
            InvalidActionError: there is no such key.
        """
        self._act("key", names=list(names))

    def text(self, text: str) -> None:
        """Type any Unicode text into what has the focus."""
        self._act("text", timeout_s=self._timeout_s + 0.1 * len(text), text=text)

    def _act(self, kind: str, *, timeout_s: float | None = None, **params: Json) -> None:
        try:
            self._link.call(
                "input", {"kind": kind, **params}, timeout_s=timeout_s or self._timeout_s
            )
        except GuestCallError as exc:
            if exc.kind in {"unknown_key", "bad_params", "unsupported"}:
                raise InvalidActionError(
                    f"The input {kind!r} cannot be made.", exc.details
                ) from exc
            raise


class LinkTree:
    """`provisioning.protocols.Tree` by AT-SPI in the guest.

    Args:
        link: to the probe.
        timeout_s: the walk ends then, with what it has seen.
    """

    def __init__(self, link: Link, *, timeout_s: float = 10.0) -> None:
        self._link = link
        self._timeout_s = timeout_s

    def elements(self) -> Sequence[Element]:
        """Return the visible elements in document order.

        Raises:
            GuestCallError: there is no session, or it has no accessibility bus.
            LinkProtocolError: the guest's list makes no sense.
        """
        reply = self._link.call("tree", {"max_nodes": _MAX_NODES}, timeout_s=self._timeout_s)
        try:
            nodes = _NODES.validate_python(reply)
        except ValueError as exc:
            raise LinkProtocolError("The probe sent no tree.", details=str(exc)[:500]) from exc
        # The bus lists applications and their windows; the windows are the roots here.
        root = min((node.depth for node in nodes), default=0)
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
