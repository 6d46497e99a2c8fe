"""What an activity is: it makes views out of the state, and changes the state when touched."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from images.phone.device.apps.stack import Entry
from images.phone.device.ui.widgets import FieldState, Widgets

if TYPE_CHECKING:
    from collections.abc import Callable

    from images.phone.device.apps.stack import Stack
    from images.phone.device.store.database import Store
    from images.phone.device.ui.theme import Theme
    from images.phone.device.ui.view import View

MAX_FIELD_CHARS = 10_000


class Host(Protocol):
    """What the phone offers its applications."""

    @property
    def store(self) -> Store:
        """The state."""
        ...

    @property
    def stack(self) -> Stack:
        """What is open."""
        ...

    @property
    def theme(self) -> Theme:
        """The colours."""
        ...

    def now_s(self) -> float:
        """Give seconds since the epoch."""
        ...

    def launch(self, package: str) -> None:
        """Bring an application to the front."""
        ...


class Screen:
    """One activity, made anew for each picture and each touch.

    Args:
        host: the phone.
        package: of the application.
        entry: what is kept of this activity.
    """

    activity: ClassVar[str]
    has_wallpaper: ClassVar[bool] = False

    def __init__(self, host: Host, package: str, entry: Entry) -> None:
        self.host = host
        self.package = package
        self.entry = entry
        self.widgets = Widgets(host.theme)

    def content(self) -> View:
        """Make the views of the screen."""
        raise NotImplementedError

    def dialog(self) -> View | None:
        """Make the views of a window above it; None when there is none."""
        return None

    def back(self) -> bool:
        """Close what is open within the screen; False when the screen itself is to be closed."""
        return False

    def submit(self, name: str) -> None:
        """Do what ENTER does in a field."""

    def swipe(self, dx: int, dy: int) -> None:
        """Do what a swipe does that scrolls nothing; px, positive is right and down."""

    @property
    def state(self) -> dict[str, Any]:
        """What is kept of this screen."""
        return self.entry.state

    @property
    def store(self) -> Store:
        """The phone's state."""
        return self.host.store

    def act(self, work: Callable[..., object], *arguments: object) -> Callable[[], None]:
        """Make a touch handler that calls something."""

        def run() -> None:
            work(*arguments)

        return run

    def set(self, **values: object) -> Callable[[], None]:
        """Make a touch handler that changes this screen's state."""
        return self.act(partial(self.state.update, values))

    def open(self, activity: str, state: dict[str, Any] | None = None, **arguments: object) -> None:
        """Open another activity of this application."""
        self.host.stack.push(self.package, Entry(activity, dict(arguments), state or {}))

    def finish(self) -> None:
        """Close this activity."""
        self.host.stack.pop()

    def toast(self, text: str) -> None:
        """Show a short message."""
        self.host.stack.toast = text

    def offset(self, name: str) -> int:
        """Give how far something is scrolled, px."""
        return int(self.state.get("scroll", {}).get(name, 0))

    def field_text(self, name: str) -> str:
        """Give the content of a text field."""
        return str(self.state.get("fields", {}).get(name, {}).get("text", ""))

    def put_field(self, name: str, text: str) -> None:
        """Fill a text field; its caret goes to the end."""
        self.state.setdefault("fields", {})[name] = {"text": text, "caret": len(text)}

    def focus(self, name: str) -> None:
        """Give a field the focus; an empty name takes it from all."""
        self.state["focus"] = name

    def drop_field(self, name: str) -> None:
        """Forget a field."""
        self.state.get("fields", {}).pop(name, None)
        if self.state.get("focus") == name:
            self.focus("")

    def field_state(self, name: str) -> FieldState:
        """Give what a field shows."""
        kept = self.state.get("fields", {}).get(name, {"text": "", "caret": 0})
        has_focus = self.state.get("focus") == name
        return FieldState(kept["text"], int(kept["caret"]) if has_focus else None)

    def field(self, name: str, *, hint: str, label: str = "", framed: bool = True) -> View:
        """Make a text field that keeps its content in this screen's state."""
        state = self.field_state(name)
        return self.widgets.field(
            name, state, self.act(self.focus, name), hint=hint, label=label, framed=framed
        )
