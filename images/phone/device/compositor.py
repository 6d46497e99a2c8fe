"""Compose the phone's screen, and cache it until the state changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from images.phone.device.apps.directory import APPS
from images.phone.device.apps.shade import Shade
from images.phone.device.scene import SYSTEM_UI, Scene, StatusBar, draw
from images.phone.device.store.notifications import list_notifications
from images.phone.device.ui import hierarchy
from images.phone.device.ui.encoding import encode_png, encode_rgba
from images.phone.device.ui.keyboard import PACKAGE as KEYBOARD

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from typing import Protocol

    from PIL import Image

    from images.phone.device.apps.screen import Host, Screen

    class ScreenHost(Host, Protocol):
        """A phone with a foreground activity."""

        @property
        def lock(self) -> AbstractContextManager[object]:
            """The lock for reading or changing the state."""
            ...

        def screen(self) -> Screen:
            """Return the screen of the foreground activity."""
            ...


_MAX_NEWS = 4


class Compositor:
    """Compose the picture and the UI hierarchy of a phone; thread-safe.

    Args:
        phone: phone whose state is shown.
        on_key: called with keys of the soft keyboard.
    """

    def __init__(self, phone: ScreenHost, on_key: Callable[[str], None]) -> None:
        self._phone = phone
        self._on_key = on_key
        self._frame: tuple[object, int] = (None, 0)
        self._scene: tuple[object, Scene] | None = None
        self._xml: tuple[object, str] | None = None
        self._png: tuple[int, bytes] | None = None
        self._pixels: tuple[int, tuple[int, int, bytes]] | None = None

    def scene(self) -> Scene:
        """Return the laid-out views of the screen."""
        phone = self._phone
        with phone.lock:
            version = self._version()
            if self._scene is None or self._scene[0] != version:
                shade = Shade(phone).content() if phone.stack.is_shade_open else None
                scene = Scene.of(phone.screen(), phone.display, self._on_key, shade)
                self._scene = (version, scene)
            return self._scene[1]

    @property
    def keyboard_shown(self) -> bool:
        """Return whether the soft keyboard is visible."""
        return self.scene().keyboard is not None

    def dump(self) -> str:
        """Return the UI hierarchy as XML."""
        with self._phone.lock:
            version = self._version()
            if self._xml is None or self._xml[0] != version:
                scene = self.scene()
                xml = hierarchy.dump(scene.window, scene.package, scene.display)
                self._xml = (version, xml)
            return self._xml[1]

    def dump_windows(self) -> str:
        """Return the UI hierarchy of all windows as XML, including the soft keyboard."""
        with self._phone.lock:
            scene, stack = self.scene(), self._phone.stack
            windows = [
                ("NotificationShade", SYSTEM_UI, scene.shade),
                ("InputMethod", KEYBOARD, scene.keyboard),
                ("Dialog", stack.front.package, scene.dialog),
                (stack.top.activity, stack.front.package, scene.content),
            ]
            shown = [(title, owner, view) for title, owner, view in windows if view is not None]
            return hierarchy.dump_windows(shown, scene.display)

    def screenshot(self) -> bytes:
        """Return a PNG of the screen."""
        with self._phone.lock:
            number = self.frame()
            if self._png is None or self._png[0] != number:
                self._png = (number, encode_png(self._draw()))
            return self._png[1]

    def picture(self) -> tuple[int, int, bytes]:
        """Return width and height in px, and 8 bits of R, G, B, A per pixel."""
        with self._phone.lock:
            number = self.frame()
            if self._pixels is None or self._pixels[0] != number:
                image = self._draw()
                self._pixels = (number, (*image.size, encode_rgba(image)))
            return self._pixels[1]

    def frame(self) -> int:
        """Return a number that increases whenever picture or hierarchy may have changed."""
        with self._phone.lock:
            version = (self._version(), self._status_bar())
            if version != self._frame[0]:
                self._frame = (version, self._frame[1] + 1)
            return self._frame[1]

    def _draw(self) -> Image.Image:
        phone = self._phone
        return draw(self.scene(), phone.theme, self._status_bar(), phone.stack.toast)

    def _version(self) -> tuple[object, ...]:
        """Return a value that changes whenever another scene may be shown.

        Open activities are stored in the state at the end of each event, and so count as a change
        of it.
        """
        screen = self._phone.screen()
        unit_s = 1 if screen.is_live else 60
        moment = int(self._phone.now_s()) // unit_s
        return (*self._phone.store.version, moment, screen.stamp())

    def _status_bar(self) -> StatusBar:
        phone = self._phone
        now, store = phone.now(), phone.store
        clock = f"{now:%H:%M}" if phone.is_24_hours() else f"{now:%I:%M}".lstrip("0")
        icons = []
        if store.setting("global", "bluetooth_on") == "1":
            icons.append("bluetooth")
        is_offline = store.setting("global", "airplane_mode_on") == "1"
        if store.setting("global", "wifi_on") == "1" and not is_offline:
            icons.append("wifi")
        packages = dict.fromkeys(row["package"] for row in list_notifications(store))
        news = [APPS[name].icon if name in APPS else "notifications" for name in packages]
        shown = (*icons, "airplane" if is_offline else "signal", "battery")
        return StatusBar(clock, shown, tuple(news[:_MAX_NEWS]))
