"""The base class of activities, which show the state as views and change it on touch."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from images.phone.device.apps.stack import Entry
from images.phone.device.ui.toolkit import Toolkit
from images.phone.device.ui.widgets import FieldState

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

    from images.phone.device.apps.stack import Stack
    from images.phone.device.store.database import Store
    from images.phone.device.ui.metrics import Display
    from images.phone.device.ui.theme import Color, Theme
    from images.phone.device.ui.view import View

MAX_FIELD_CHARS = 10_000


class Host(Protocol):
    """The interface of the phone to its applications."""

    @property
    def store(self) -> Store:
        """The state."""
        ...

    @property
    def stack(self) -> Stack:
        """The open activities."""
        ...

    @property
    def theme(self) -> Theme:
        """The colours."""
        ...

    @property
    def display(self) -> Display:
        """Size, density and rotation of the screen."""
        ...

    @property
    def shared_dir(self) -> Path | None:
        """The folder of shared files, ``/sdcard``; None if the phone has no files."""
        ...

    @property
    def clipboard(self) -> str:
        """The text on the clipboard."""
        ...

    @clipboard.setter
    def clipboard(self, text: str) -> None: ...

    @property
    def names(self) -> frozenset[str]:
        """Names of services that ports of the phone lead to."""
        ...

    def now_s(self) -> float:
        """Return seconds since the epoch."""
        ...

    def now(self) -> datetime:
        """Return the time in the phone's own zone."""
        ...

    def is_24_hours(self) -> bool:
        """Return whether times use the 24-hour format."""
        ...

    def launch(self, package: str) -> None:
        """Bring an application to the foreground."""
        ...

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
        """Post a notification and return its ID."""
        ...

    def cancel_notifications(self, package: str = "", tag: str = "") -> None:
        """Cancel notifications."""
        ...

    def in_background(self, work: Callable[[], Callable[[], None]]) -> None:
        """Run slow work in the background, then call its result as a change of the state."""
        ...


class Screen:
    """One activity; created for each picture and each touch.

    Attributes:
        activity: class name.
        has_wallpaper: whether the launcher's wallpaper is behind it.
        multiline: fields in which ENTER inserts a line break.
        ground: background colour if it differs from the theme's; it is dark.

    Args:
        host: the phone.
        package: package of the application.
        entry: saved data of this activity.
    """

    activity: ClassVar[str]
    has_wallpaper: ClassVar[bool] = False
    multiline: ClassVar[frozenset[str]] = frozenset()
    ground: ClassVar[Color | None] = None

    def __init__(self, host: Host, package: str, entry: Entry) -> None:
        self.host = host
        self.package = package
        self.entry = entry
        self.widgets = Toolkit(host.theme, entry.state.get("scroll"))

    def content(self) -> View:
        """Return the views of the screen."""
        raise NotImplementedError

    def dialog(self) -> View | None:
        """Return the views of the dialog, or None."""
        return None

    def popup(self) -> View | None:
        """Return the menu of the long-pressed field, or None."""
        name = self.state.get("focus")
        if not name or self.state.get("popup") != name:
            return None
        actions = [("Paste", self._paste)] if self.host.clipboard else []
        if self.field_text(name):
            actions = [("Cut", self._cut), ("Copy", self._copy), *actions]
            actions.append(("Select all", self.set(marked=name, popup=name)))
        buttons = [self.widgets.button(caption, act) for caption, act in actions]
        return self.widgets.floating(*buttons) if buttons else None

    def back(self) -> bool:
        """Close an open part of the screen; return False if the screen itself must be closed."""
        return False

    @property
    def is_live(self) -> bool:
        """Return whether the content changes every second."""
        return False

    def stamp(self) -> object:
        """Return a value that changes when displayed files change."""
        return None

    def submit(self, name: str) -> None:
        """Handle ENTER in a field."""

    def is_multiline(self, name: str) -> bool:
        """Return whether ENTER inserts a line break into a field."""
        return name in self.multiline

    def edited(self, name: str) -> None:
        """Handle a change of a field's content."""

    def swipe(self, dx: int, dy: int) -> None:
        """Handle a swipe that does not scroll; px, positive is right and down."""

    def pinch(self, ratio: float) -> None:
        """Handle two fingers that moved apart, by a ratio above 1, or together."""

    @property
    def state(self) -> dict[str, Any]:
        """The saved state of this screen."""
        return self.entry.state

    @property
    def store(self) -> Store:
        """The phone's state."""
        return self.host.store

    def act(
        self, work: Callable[..., object], *arguments: object, **named: object
    ) -> Callable[[], None]:
        """Return a touch handler that calls a function."""

        def run() -> None:
            work(*arguments, **named)

        return run

    def set(self, **values: object) -> Callable[[], None]:
        """Return a touch handler that changes this screen's state."""
        return self.act(partial(self.state.update, values))

    def open(self, activity: str, state: dict[str, Any] | None = None, **arguments: object) -> None:
        """Open another activity of this application."""
        self.host.stack.push(self.package, Entry(activity, dict(arguments), state or {}))

    def start(
        self,
        package: str,
        activity: str,
        state: dict[str, Any] | None = None,
        **arguments: object,
    ) -> None:
        """Open an activity of any application."""
        self.host.stack.push(package, Entry(activity, dict(arguments), state or {}))

    def finish(self) -> None:
        """Close this activity."""
        self.host.stack.pop()

    def toast(self, text: str) -> None:
        """Show a short message."""
        self.host.stack.toast = self.host.stack.last_toast = text

    def offset(self, name: str) -> int:
        """Return a scroll offset, px."""
        return int(self.state.get("scroll", {}).get(name, 0))

    def field_text(self, name: str) -> str:
        """Return the content of a text field."""
        return str(self.state.get("fields", {}).get(name, {}).get("text", ""))

    def put_field(self, name: str, text: str) -> None:
        """Set the content of a text field and move its caret to the end."""
        self.state.setdefault("fields", {})[name] = {"text": text, "caret": len(text)}

    def focus(self, name: str) -> None:
        """Move the focus to a field; an empty name removes the focus."""
        self.state["focus"] = name
        for key in ("keyboard_hidden", "keyboard", "shift", "popup", "marked"):
            self.state.pop(key, None)

    def drop_field(self, name: str) -> None:
        """Remove a field from the state."""
        self.state.get("fields", {}).pop(name, None)
        if self.state.get("focus") == name:
            self.focus("")

    def field_state(self, name: str) -> FieldState:
        """Return the state of a field."""
        kept = self.state.get("fields", {}).get(name, {"text": "", "caret": 0})
        has_focus = self.state.get("focus") == name
        is_marked = has_focus and self.state.get("marked") == name
        return FieldState(kept["text"], int(kept["caret"]) if has_focus else None, is_marked)

    def field(
        self,
        name: str,
        *,
        hint: str,
        label: str = "",
        framed: bool = True,
        lines: int = 1,
        keys: str = "letters",
    ) -> View:
        """Return a text field that stores its content in this screen's state."""
        view = self.widgets.field(
            name,
            self.field_state(name),
            self.act(self.focus, name),
            hint=hint,
            label=label,
            framed=framed,
            lines=lines,
            keys=keys,
        )
        view.on_hold = self.act(self._hold, name)
        return view

    def _hold(self, name: str) -> None:
        self.focus(name)
        self.state["popup"] = name

    def _paste(self) -> None:
        name = str(self.state["focus"])
        kept = self.state.setdefault("fields", {}).setdefault(name, {"text": "", "caret": 0})
        if self.state.pop("marked", None) == name:
            kept.update(text="", caret=0)
        text, caret, added = kept["text"], kept["caret"], self.host.clipboard
        added = added[: max(0, MAX_FIELD_CHARS - len(text))]
        kept.update(text=text[:caret] + added + text[caret:], caret=caret + len(added))
        self.state.pop("popup", None)
        self.edited(name)

    def _copy(self) -> None:
        self.host.clipboard = self.field_text(str(self.state["focus"]))
        self.toast("Copied")
        self.state.pop("popup", None)

    def _cut(self) -> None:
        self._copy()
        self.put_field(str(self.state["focus"]), "")
        self.edited(str(self.state["focus"]))
