"""The phone: state changed by input and displayed as picture and UI hierarchy."""

from __future__ import annotations

import math
import threading
import time
from contextlib import contextmanager
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from images.phone.device.apps.catalog import SCREENS
from images.phone.device.apps.directory import APPS, LAUNCHER
from images.phone.device.apps.launcher import HOME, RECENTS, LauncherScreen
from images.phone.device.apps.links import find_target
from images.phone.device.apps.settings import DARK
from images.phone.device.apps.stack import Entry, Stack
from images.phone.device.compositor import Compositor
from images.phone.device.editing import Editor
from images.phone.device.log import LogBuffer
from images.phone.device.store.display import load_display, turn_display
from images.phone.device.store.notifications import (
    cancel_notifications,
    post_notification,
)
from images.phone.device.telephony import Telephony
from images.phone.device.touch import Touch
from images.phone.device.ui.metrics import STATUS_BAR_PX
from images.phone.device.ui.theme import DARK as DARK_COLORS
from images.phone.device.ui.theme import LIGHT as LIGHT_COLORS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from images.phone.device.apps.screen import Screen
    from images.phone.device.scene import Scene
    from images.phone.device.store.database import Store
    from images.phone.device.ui.metrics import Display
    from images.phone.device.ui.theme import Theme
    from images.phone.device.ui.view import View

HOLD_MS = 500
_TAP_SLOP_PX = 24
_CARD = "data/media/0"
_CLIPBOARD = ("device", "clipboard")
_CLOCK = ("device", "clock_ahead_s")


class Phone:
    """A phone; all public methods are thread-safe.

    Args:
        store: the state.
        root: folder that tools see as ``/``; if None, the phone has no files.
    """

    def __init__(self, store: Store, root: Path | None = None) -> None:
        self.lock = threading.RLock()
        self.log = LogBuffer()
        self.telephony = Telephony(self)
        self._root = root
        self._store = store
        self._stack = self._load()
        self._ahead_s = self._load_clock()
        self._kept = ""
        self._resumed = ""
        self.compositor = Compositor(self, self._press_key)
        self._begun: list[object] = []
        self.names: frozenset[str] = frozenset()
        """Names of services that ports of the phone lead to, until a rewind or a reboot."""
        self.finger: tuple[tuple[int, int], float] | None = None
        """Position and time of a touch that is not yet released."""
        self.touch = Touch()

    @property
    def store(self) -> Store:
        """The state."""
        return self._store

    @property
    def stack(self) -> Stack:
        """The open activities."""
        return self._stack

    @property
    def theme(self) -> Theme:
        """The current colours."""
        is_dark = self._store.setting("secure", "ui_night_mode") == DARK
        return DARK_COLORS if is_dark else LIGHT_COLORS

    @property
    def shared_dir(self) -> Path | None:
        """The folder of shared files, ``/sdcard``; None if the phone has no files."""
        return None if self._root is None else self._root / _CARD

    @property
    def display(self) -> Display:
        """Size, density and rotation of the screen."""
        return load_display(self._store)

    @property
    def clipboard(self) -> str:
        """The text on the clipboard."""
        return self._store.setting(*_CLIPBOARD)

    @clipboard.setter
    def clipboard(self, text: str) -> None:
        with self.lock:
            self._store.put_setting(*_CLIPBOARD, text)

    def now_s(self) -> float:
        """Return seconds since the epoch, as the phone's clock is set."""
        return time.time() + self._ahead_s

    def set_clock(self, now_s: float) -> None:
        """Set the phone's clock, until it is rewound.

        Args:
            now_s: seconds since the epoch.
        """
        with self.event():
            self._store.put_setting(*_CLOCK, repr(now_s - time.time()))
            self._ahead_s = self._load_clock()

    def now(self) -> datetime:
        """Return the time in the phone's own zone."""
        rows = self._store.rows("SELECT value FROM property WHERE key='persist.sys.timezone'")
        try:
            zone: ZoneInfo | timezone = ZoneInfo(rows[0]["value"])
        except (ZoneInfoNotFoundError, ValueError, IndexError, OSError):
            zone = timezone.utc  # noqa: UP017 - 3.10
        return datetime.fromtimestamp(self.now_s(), tz=zone)

    def is_24_hours(self) -> bool:
        """Return whether times use the 24-hour format."""
        return self._store.setting("system", "time_12_24") != "12"

    def rotate(self) -> None:
        """Rotate the phone by a quarter turn; the screen follows if auto-rotation is on."""
        with self.event():
            turn_display(self._store)

    def notify(
        self,
        package: str,
        title: str,
        text: str,
        *,
        tag: str = "",
        activity: str = "",
        arguments: dict[str, Any] | None = None,
    ) -> int:
        """Post a notification and return its ID; it replaces one with the same package and tag.

        Args:
            package: package of its application.
            title: first line.
            text: text below the title.
            tag: distinguishes notifications of an application.
            activity: activity that a tap opens; the application itself if empty.
            arguments: arguments of that activity.
        """
        with self.lock:
            return post_notification(
                self._store,
                package,
                title,
                text,
                tag=tag,
                posted_ms=int(self.now_s() * 1000),
                activity=activity,
                arguments=arguments or {},
            )

    def cancel_notifications(self, package: str = "", tag: str = "") -> None:
        """Cancel notifications; an empty package or tag matches any."""
        with self.lock:
            cancel_notifications(self._store, package, tag)

    def expand_shade(self) -> None:
        """Open the notification shade."""
        with self._input():
            self._stack.is_shade_open = True

    def collapse_shade(self) -> None:
        """Close the notification shade."""
        with self._input():
            self._stack.is_shade_open = False

    def view(self, action: str, uri: str, extras: dict[str, str] | None = None) -> bool:
        """Open the activity of an intent; return False if no application handles it.

        Args:
            action: such as ``android.intent.action.VIEW``.
            uri: such as ``tel:123``, ``geo:0,0?q=Bern``, ``http://…``; may be empty.
            extras: text values of the intent.
        """
        target = find_target(action, uri, extras or {})
        if target is None:
            return False
        package, entry = target
        with self._input():
            if self._stack.find(package) is None and entry.activity != APPS[package].main:
                self._stack.push(package, Entry(APPS[package].main))
            self._stack.push(package, entry)
        return True

    def in_background(self, work: Callable[[], Callable[[], None]]) -> None:
        """Run slow work in the background, then call its result as a change of the state.

        The results of work that started before a rewind are discarded.
        """
        epoch = self._store.version[0]
        self._begun.append(epoch)

        def run() -> None:
            try:
                then = work()
                with self.event():
                    if self._store.version[0] == epoch:
                        then()
            finally:
                self._begun.remove(epoch)

        threading.Thread(target=run, name="background", daemon=True).start()

    @property
    def pending(self) -> int:
        """The number of background tasks that will still change the picture."""
        return self._begun.count(self._store.version[0])

    def reload(self) -> None:
        """Reload the state after it was replaced."""
        with self.lock:
            self._stack = self._load()
            self._ahead_s = self._load_clock()
            self._kept = ""
            self.names = frozenset()
            self.finger = None
            self.touch = Touch()

    @contextmanager
    def event(self) -> Iterator[None]:
        """Change the state atomically and save it at the end."""
        with self.lock:
            try:
                yield
            finally:
                self._keep()

    def launch(self, package: str) -> None:
        """Bring an application to the foreground in its last state.

        Raises:
            KeyError: it does not exist.
        """
        with self._input():
            self._stack.open_task(package, Entry(APPS[package].main))
            if package == LAUNCHER:
                self._home(HOME)

    def open(self, package: str, activity: str) -> None:
        """Open one activity of an application in the foreground.

        Raises:
            KeyError: it does not exist.
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
        """Close an application if it is open."""
        with self.event():
            if package == LAUNCHER:
                self._home(HOME)
            else:
                self._stack.remove(package)

    def tap(self, x: int, y: int) -> None:
        """Tap at a position, in the pixels that tools use."""
        with self._input():
            x, y = self.display.to_canvas(x, y)
            if y >= self.display.keys_top:
                self._press_bar(x)
                return
            slider = self.compositor.scene().hit(x, y, lambda view: view.on_slide is not None)
            if slider is not None:
                _slide(slider, x)
                return
            scene = self.compositor.scene()
            view = scene.hit(x, y, lambda view: view.on_tap is not None)
            if scene.shade is None and (scene.keyboard is None or y < scene.keyboard.box.top):
                scene.screen.state.pop("popup", None)
            if view is not None and view.on_tap is not None and view.traits.enabled:
                view.on_tap()

    def swipe(self, start: tuple[int, int], end: tuple[int, int], duration_ms: int) -> None:
        """Move a finger over the screen, in the pixels that tools use; scrolling stops at the end.

        Args:
            start: start position.
            end: end position.
            duration_ms: duration; 500 or more without movement is a long press.
        """
        touched = start
        start, end = self.display.to_canvas(*start), self.display.to_canvas(*end)
        dx, dy = end[0] - start[0], end[1] - start[1]
        if max(abs(dx), abs(dy)) < _TAP_SLOP_PX:
            self._hold_or_tap(touched, duration_ms)
            return
        with self._input():
            scene = self.compositor.scene()
            if self._pull_shade(start, dy):
                return
            slider = scene.hit(*start, lambda view: view.on_slide is not None)
            if slider is not None:
                _slide(slider, end[0])
            elif scene.keyboard is not None and start[1] >= scene.keyboard.box.top:
                return
            elif not self._scroll(scene, start, dy) and scene.shade is None:
                scene.screen.swipe(dx, dy)

    def touched(self, paths: list[list[tuple[int, int]]]) -> None:
        """Handle fingers that were down together, in the pixels that tools use.

        One finger taps or swipes; two pinch if their distance changes, and scroll otherwise.
        """
        if len(paths) != len(("one", "other")):
            self.swipe(paths[0][0], paths[0][-1], 0)
            return
        (start, other), (end, other_end) = ([path[at] for path in paths] for at in (0, -1))
        before, after = math.dist(start, other), math.dist(end, other_end)
        if abs(after - before) < _TAP_SLOP_PX or not min(before, after):
            self.swipe(_middle(start, other), _middle(end, other_end), 0)
            return
        with self._input():
            scene = self.compositor.scene()
            if scene.shade is None:
                scene.screen.pinch(after / before)

    def scroll(self, place: tuple[int, int], dy: int) -> None:
        """Scroll at a position, in the pixels that tools use, by canvas pixels; up is positive."""
        with self._input():
            self._scroll(self.compositor.scene(), self.display.to_canvas(*place), dy)

    def press(self, key: str) -> None:
        """Press a key by its name without ``KEYCODE_``; unsupported keys do nothing."""
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
        """Type text into the focused field; without one it is discarded."""
        with self._input():
            Editor(self.screen()).type(text)

    def screen(self) -> Screen:
        """Return the screen of the foreground activity."""
        task = self._stack.front
        kind = SCREENS[task.package][self._stack.top.activity]
        return kind(self, task.package, self._stack.top)

    def boot(self) -> None:
        """Boot: show the home screen and close everything else."""
        with self.event():
            self._stack = Stack.of_home(LAUNCHER, APPS[LAUNCHER].main)
            self.names = frozenset()
            self.cancel_notifications()
            self.log.clear()
            self.log.write("I", "boot", "Boot is finished")

    def digest(self) -> dict[str, str]:
        """Return the SHA-256 of each part of the state, including what no screen shows."""
        with self.lock:
            return self._store.digest()

    def _load_clock(self) -> float:
        """Return how far the clock is ahead of the host's, s."""
        return float(self._store.setting(*_CLOCK, "0"))

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
        resumed = f"{self._stack.front.package}/{self._stack.top.activity}"
        if resumed != self._resumed:
            self._resumed = resumed
            self.log.write("I", "ActivityTaskManager", f"Displayed {resumed} for user 0")

    @contextmanager
    def _input(self) -> Iterator[None]:
        with self.event():
            self._stack.toast = ""
            yield

    def _home(self, mode: str) -> None:
        self._stack.is_shade_open = False
        self._stack.bring(LAUNCHER)
        LauncherScreen(self, LAUNCHER, self._stack.top).show(mode)

    def _back(self) -> None:
        """Handle BACK: close the shade, the keyboard, an open part of the screen, or the screen."""
        if self._stack.is_shade_open:
            self._stack.is_shade_open = False
        elif self.compositor.scene().keyboard is not None:
            self._stack.top.state["keyboard_hidden"] = True
        elif not self.screen().back():
            self._stack.pop()

    def _press_bar(self, x: int) -> None:
        width = self.display.width_px
        if x < width // 3:
            self._back()
        else:
            self._home(HOME if x < width * 2 // 3 else RECENTS)

    def _press_key(self, key: str) -> None:
        """Handle a key of the soft keyboard."""
        Editor(self.screen()).touch(key)

    def _pull_shade(self, start: tuple[int, int], dy: int) -> bool:
        """Open or close the notification shade; return False if the swipe is another gesture."""
        if not self._stack.is_shade_open and start[1] < STATUS_BAR_PX and dy > 0:
            self._stack.is_shade_open = True
        elif self._stack.is_shade_open and dy < 0:
            self._stack.is_shade_open = False
        else:
            return False
        return True

    def _hold_or_tap(self, place: tuple[int, int], duration_ms: int) -> None:
        view = None
        if duration_ms >= HOLD_MS:
            canvas = self.display.to_canvas(*place)
            view = self.compositor.scene().hit(*canvas, lambda view: view.on_hold is not None)
        if view is None or view.on_hold is None:
            self.tap(*place)
            return
        with self._input():
            view.on_hold()

    def _scroll(self, scene: Scene, start: tuple[int, int], dy: int) -> bool:
        view = scene.hit(*start, lambda view: bool(view.scroll))
        if view is None or not STATUS_BAR_PX <= start[1] < scene.display.keys_top:
            return False
        most = max(0, view.content_px - view.inner().height)
        offset = max(0, min(most, view.offset_px - dy))
        if offset == view.offset_px:
            return False
        scene.screen.state.setdefault("scroll", {})[view.scroll] = offset
        return True


def _middle(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return (one[0] + other[0]) // 2, (one[1] + other[1]) // 2


def _slide(view: View, x: int) -> None:
    if view.on_slide is not None:
        view.on_slide(max(0.0, min(1.0, (x - view.box.left) / view.box.width)))
