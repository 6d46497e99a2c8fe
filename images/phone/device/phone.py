"""The phone itself: one state, touched by input, shown as picture and hierarchy."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from images.phone.device.apps.catalog import SCREENS
from images.phone.device.apps.directory import APPS, LAUNCHER
from images.phone.device.apps.launcher import HOME, RECENTS, LauncherScreen
from images.phone.device.apps.settings import DARK
from images.phone.device.apps.stack import Entry, Stack
from images.phone.device.editing import Editor
from images.phone.device.scene import Scene, StatusBar, draw, encode_png
from images.phone.device.ui import hierarchy
from images.phone.device.ui.metrics import HEIGHT_PX, NAVIGATION_BAR_PX, STATUS_BAR_PX, WIDTH_PX
from images.phone.device.ui.theme import DARK as DARK_COLORS
from images.phone.device.ui.theme import LIGHT as LIGHT_COLORS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from images.phone.device.apps.screen import Screen
    from images.phone.device.store.database import Store
    from images.phone.device.ui.theme import Theme
    from images.phone.device.ui.view import View

HOLD_MS = 500
_TAP_SLOP_PX = 24


class Phone:
    """What a user holds in the hand. Every public method may be called from any thread.

    Args:
        store: the state.
    """

    def __init__(self, store: Store) -> None:
        self.lock = threading.RLock()
        self._store = store
        self._stack = self._load()
        self._kept = ""
        self._scene: tuple[object, Scene] | None = None
        self._picture: tuple[object, bytes] | None = None
        self._xml: tuple[object, str] | None = None

    @property
    def store(self) -> Store:
        """The state."""
        return self._store

    @property
    def stack(self) -> Stack:
        """What is open."""
        return self._stack

    @property
    def theme(self) -> Theme:
        """The colours that are set."""
        is_dark = self._store.setting("secure", "ui_night_mode") == DARK
        return DARK_COLORS if is_dark else LIGHT_COLORS

    def now_s(self) -> float:
        """Give seconds since the epoch."""
        return time.time()

    def reload(self) -> None:
        """Take up the state after all of it was replaced."""
        with self.lock:
            self._stack = self._load()
            self._kept = ""

    @contextmanager
    def event(self) -> Iterator[None]:
        """Change the state: nobody sees it half-changed, and it is kept at the end."""
        with self.lock:
            try:
                yield
            finally:
                self._keep()

    def launch(self, package: str) -> None:
        """Bring an application to the front, as it was left.

        Raises:
            KeyError: there is none.
        """
        with self._input():
            self._stack.open_task(package, Entry(APPS[package].main))
            if package == LAUNCHER:
                self._home(HOME)

    def open(self, package: str, activity: str) -> None:
        """Open one activity of an application in front.

        Raises:
            KeyError: there is none.
        """
        if activity == APPS[package].main:
            self.launch(package)
            return
        if activity not in SCREENS[package]:
            raise KeyError(activity)
        with self._input():
            if not self._stack.bring(package) or self._stack.top.activity != activity:
                self._stack.push(package, Entry(activity))

    def stop(self, package: str) -> None:
        """Close an application with all it has open; nothing happens when it is not open."""
        with self.event():
            if package == LAUNCHER:
                self._home(HOME)
            else:
                self._stack.remove(package)

    def tap(self, x: int, y: int) -> None:
        """Touch a place, px."""
        with self._input():
            if y >= HEIGHT_PX - NAVIGATION_BAR_PX:
                self._press_bar(x)
                return
            slider = self.scene().hit(x, y, lambda view: view.on_slide is not None)
            if slider is not None:
                _slide(slider, x)
                return
            view = self.scene().hit(x, y, lambda view: view.on_tap is not None)
            if view is not None and view.on_tap is not None and view.traits.enabled:
                view.on_tap()

    def swipe(self, start: tuple[int, int], end: tuple[int, int], duration_ms: int) -> None:
        """Move a finger over the screen, px; what scrolls follows it and stops when it is lifted.

        Args:
            start: where it is put down.
            end: where it is lifted.
            duration_ms: 500 and more without moving holds.
        """
        dx, dy = end[0] - start[0], end[1] - start[1]
        if max(abs(dx), abs(dy)) < _TAP_SLOP_PX:
            self._hold_or_tap(start, duration_ms)
            return
        with self._input():
            scene = self.scene()
            slider = scene.hit(*start, lambda view: view.on_slide is not None)
            if slider is not None:
                _slide(slider, end[0])
            elif not self._scroll(scene, start, dy):
                scene.screen.swipe(dx, dy)

    def press(self, key: str) -> None:
        """Press a key by its name without ``KEYCODE_``; keys without a use here do nothing."""
        with self._input():
            if key == "HOME":
                self._home(HOME)
            elif key == "APP_SWITCH":
                self._home(RECENTS)
            elif key in {"BACK", "ESCAPE"}:
                self._back()
            else:
                Editor(self.screen()).press(key)

    def type(self, text: str) -> None:
        """Type text into the field that has the focus; without one it is lost."""
        with self._input():
            Editor(self.screen()).type(text)

    def screen(self) -> Screen:
        """Make the activity in front."""
        task = self._stack.front
        kind = SCREENS[task.package][self._stack.top.activity]
        return kind(self, task.package, self._stack.top)

    def scene(self) -> Scene:
        """Give what is on the screen; it is made when the state has changed."""
        with self.lock:
            version = self._version()
            if self._scene is None or self._scene[0] != version:
                self._scene = (version, Scene.of(self.screen()))
            return self._scene[1]

    def dump(self) -> str:
        """Give the UI hierarchy as XML."""
        with self.lock:
            version = self._version()
            if self._xml is None or self._xml[0] != version:
                scene = self.scene()
                self._xml = (version, hierarchy.dump(scene.window, scene.package))
            return self._xml[1]

    def screenshot(self) -> bytes:
        """Give a PNG of the screen, 1080x2400 px."""
        with self.lock:
            bar = self._status_bar()
            version = (self._version(), bar)
            if self._picture is None or self._picture[0] != version:
                image = draw(self.scene(), self.theme, bar, self._stack.toast)
                self._picture = (version, encode_png(image))
            return self._picture[1]

    def digest(self) -> dict[str, str]:
        """Give the SHA-256 of each part of the state, what no screen shows included."""
        with self.lock:
            return self._store.digest()

    def _load(self) -> Stack:
        document = self._store.load_interface()
        if document is None:
            return Stack.of_home(LAUNCHER, APPS[LAUNCHER].main)
        return Stack.from_json(document)

    def _keep(self) -> None:
        document = self._stack.to_json()
        if document != self._kept:
            self._store.save_interface(document)
            self._kept = document

    def _version(self) -> tuple[object, ...]:
        return (*self._store.version, self._kept)

    @contextmanager
    def _input(self) -> Iterator[None]:
        with self.event():
            self._stack.toast = ""
            yield

    def _home(self, mode: str) -> None:
        self._stack.bring(LAUNCHER)
        LauncherScreen(self, LAUNCHER, self._stack.top).show(mode)

    def _back(self) -> None:
        if not self.screen().back():
            self._stack.pop()

    def _press_bar(self, x: int) -> None:
        if x < WIDTH_PX // 3:
            self._back()
        else:
            self._home(HOME if x < WIDTH_PX * 2 // 3 else RECENTS)

    def _hold_or_tap(self, place: tuple[int, int], duration_ms: int) -> None:
        view = None
        if duration_ms >= HOLD_MS:
            view = self.scene().hit(*place, lambda view: view.on_hold is not None)
        if view is None or view.on_hold is None:
            self.tap(*place)
            return
        with self._input():
            view.on_hold()

    def _scroll(self, scene: Scene, start: tuple[int, int], dy: int) -> bool:
        view = scene.hit(*start, lambda view: bool(view.scroll))
        if view is None or not STATUS_BAR_PX <= start[1] < HEIGHT_PX - NAVIGATION_BAR_PX:
            return False
        most = max(0, view.content_px - view.inner().height)
        offset = max(0, min(most, view.offset_px - dy))
        if offset == view.offset_px:
            return False
        scene.screen.state.setdefault("scroll", {})[view.scroll] = offset
        return True

    def _status_bar(self) -> StatusBar:
        now = datetime.fromtimestamp(self.now_s(), tz=timezone.utc)  # noqa: UP017 - 3.10
        is_long = self._store.setting("system", "time_12_24") != "12"
        clock = f"{now:%H:%M}" if is_long else f"{now:%I:%M}".lstrip("0")
        icons = []
        if self._store.setting("global", "bluetooth_on") == "1":
            icons.append("bluetooth")
        is_offline = self._store.setting("global", "airplane_mode_on") == "1"
        if self._store.setting("global", "wifi_on") == "1" and not is_offline:
            icons.append("wifi")
        return StatusBar(clock, (*icons, "airplane" if is_offline else "signal", "battery"))


def _slide(view: View, x: int) -> None:
    if view.on_slide is not None:
        view.on_slide(max(0.0, min(1.0, (x - view.box.left) / view.box.width)))
