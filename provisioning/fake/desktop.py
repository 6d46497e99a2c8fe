"""An in-memory desktop: a few applications, settings, files and a working terminal."""

from __future__ import annotations

import base64
import stat
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from foundation.clock import SYSTEM_CLOCK, Clock
from foundation.errors import GuestCallError, InvalidActionError
from provisioning.fake.canvas import draw
from provisioning.fake.end_state import keep_fake
from provisioning.fake.judge import Judge
from provisioning.fake.machine import FakeFile, FakeMachine, FakeState
from provisioning.fake.shell import HOME, run_command, run_line
from provisioning.protocols import (
    Bounds,
    Button,
    Element,
    FileStat,
    Json,
    MachineInfo,
    StateKind,
)
from provisioning.resource import DESKTOP

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt

    from provisioning.protocols import Point, StateSummary

SIZE = (320, 200)
_APPS = {
    "Terminal": "gnome-terminal-server",
    "Text Editor": "gnome-text-editor",
    "Files": "nautilus",
    "Settings": "gnome-control-center",
}
_CLASSES = {
    "Terminal": "Gnome-terminal",
    "Text Editor": "Gedit",
    "Files": "Org.gnome.Nautilus",
    "Settings": "Gnome-control-center",
}
"""Window classes, as on a desktop with these applications."""
_DESKTOP_FILES = {
    "/usr/share/applications/org.gnome.Terminal.desktop": "Terminal",
    "/usr/share/applications/org.gnome.TextEditor.desktop": "Text Editor",
    "/usr/share/applications/org.gnome.Nautilus.desktop": "Files",
}
_NAMED_KEYS = frozenset(
    [
        "ctrl",
        "alt",
        "shift",
        "super",
        "Return",
        "Tab",
        "Escape",
        "BackSpace",
        "Delete",
        "space",
        "Up",
        "Down",
        "Left",
        "Right",
        "Home",
        "End",
        "Page_Up",
        "Page_Down",
    ]
) | {f"F{n}" for n in range(1, 13)}
_BAR_PX = 20


@dataclass(slots=True)
class DesktopState(FakeState):
    """The state that a snapshot of the fake desktop keeps.

    Attributes:
        settings: values by (schema, key).
        apps: names of open applications, the active one last.
        line: text after the terminal's prompt.
        lines: text that the terminal or editor shows.
        document: path of the opened document; empty if none is.
        daemons: processes in addition to the applications.
        folders: explicitly created folders.
        judge: the loaded bundles of evaluators; a rewind drops bundles loaded later.
    """

    settings: dict[tuple[str, str], str] = field(
        default_factory=lambda: {("org.gnome.desktop.interface", "color-scheme"): "default"}
    )
    apps: list[str] = field(default_factory=list)
    line: str = ""
    lines: list[str] = field(default_factory=list)
    document: str = ""
    daemons: list[str] = field(default_factory=lambda: ["systemd"])
    folders: set[str] = field(default_factory=set)
    judge: Judge = field(default_factory=Judge)


class FakeDesktop(FakeMachine[DesktopState]):
    """A desktop of 320x200 px with four applications; it is its own `Input`.

    Args:
        machine_id: its id.
        clock: clock used for file times and rewinds.
        reset_s: reported duration of a rewind.
        browser: its reported browser.
    """

    def __init__(
        self,
        machine_id: str = "desktop-fake",
        clock: Clock = SYSTEM_CLOCK,
        *,
        reset_s: float = 0.0,
        browser: str = "",
    ) -> None:
        info = MachineInfo(
            machine_id,
            DESKTOP,
            "fake",
            "desktop:fake",
            "0" * 64,
            accelerator="none",
            user="user",
            home=HOME,
            browser=browser,
        )
        super().__init__(info, DesktopState(), clock, reset_s=reset_s)

    @property
    def input(self) -> FakeDesktop:
        """Return its input devices."""
        return self

    def size(self) -> tuple[int, int]:
        """Return width and height in px."""
        return SIZE

    def capture(self) -> npt.NDArray[np.uint8]:
        """Draw the screen: uint8 array (H, W, 3), RGB."""
        self.faults.check("capture")
        self.require_running()
        scheme = self.state.settings.get(("org.gnome.desktop.interface", "color-scheme"), "")
        dark = scheme == "prefer-dark"
        return draw(SIZE, self._elements(), dark=dark, pointer=self.state.pointer)

    def elements(self) -> Sequence[Element]:
        """Return the application bar, then the active window."""
        self.faults.check("tree")
        return self._elements()

    def _elements(self) -> list[Element]:
        elements = [Element("desktop frame", "main", Bounds(0, 0, *SIZE))]
        width = SIZE[0] // len(_APPS)
        for index, name in enumerate(_APPS):
            box = Bounds(index * width, 0, (index + 1) * width, _BAR_PX)
            elements.append(Element("push button", name, box, frozenset({"showing"}), depth=1))
        if self.state.apps:
            title = self.state.apps[-1]
            text = "\n".join([*self.state.lines[-10:], f"$ {self.state.line}"])
            window = Bounds(10, _BAR_PX + 5, SIZE[0] - 10, SIZE[1] - 5)
            inside = Bounds(window.left, window.top + _BAR_PX, window.right, window.bottom)
            elements.append(
                Element("frame", title, window, frozenset({"showing", "active"}), depth=1)
            )
            elements.append(Element("terminal", text, inside, frozenset({"focused"}), depth=2))
        return elements

    def move(self, x: int, y: int) -> None:
        """Move the pointer to a position."""
        self.faults.check("input")
        self.require_running()
        self.state.pointer = (x, y)

    def click(
        self,
        x: int,
        y: int,
        *,
        button: Button = Button.LEFT,
        count: int = 1,
        held: Sequence[str] = (),
    ) -> None:
        """Click; a click on a button of the bar opens its application."""
        self.move(x, y)
        self._require_keys(held)
        self.state.received.append(("click", (x, y), button, count, *held))
        if button is Button.LEFT and y < _BAR_PX:
            index = min(x * len(_APPS) // SIZE[0], len(_APPS) - 1)
            self.open_app(list(_APPS)[index])

    def button_down(self, x: int, y: int, *, button: Button = Button.LEFT) -> None:
        """Press a button; nothing reacts."""
        self.move(x, y)
        self.state.received.append(("press", (x, y), button))

    def button_up(self, x: int, y: int, *, button: Button = Button.LEFT) -> None:
        """Release a button; nothing reacts."""
        self.move(x, y)
        self.state.received.append(("release", (x, y), button))

    def drag(
        self,
        path: Sequence[Point],
        *,
        button: Button = Button.LEFT,
        duration_s: float = 0.3,
        held: Sequence[str] = (),
    ) -> None:
        """Drag; only moves the pointer to the end."""
        self._require_keys(held)
        for place in path:
            self.move(*place)
        self.state.received.append(("drag", *path, button, *held))

    def scroll(self, x: int, y: int, *, dx: int = 0, dy: int = 0, held: Sequence[str] = ()) -> None:
        """Turn the wheel; only moves the pointer, nothing scrolls."""
        self.move(x, y)
        self._require_keys(held)
        self.state.received.append(("wheel", (x, y), dx, dy, *held))

    def key(self, *names: str, hold_s: float = 0.0) -> None:
        """Press keys: only Return, BackSpace and single characters have an effect.

        Raises:
            InvalidActionError: a key does not exist.
        """
        self._require_keys(names)
        self.clock.sleep(hold_s)
        match names:
            case ("Return",):
                self._enter()
            case ("BackSpace",):
                self.state.line = self.state.line[:-1]
            case (single,) if len(single) == 1:
                self.state.line += single
            case _:
                pass

    def key_down(self, *names: str) -> None:
        """Press keys and keep them pressed; nothing reacts.

        Raises:
            InvalidActionError: a key does not exist.
        """
        self._require_keys(names)
        self.state.received.append(("key_down", *names))

    def key_up(self, *names: str) -> None:
        """Release keys; nothing reacts.

        Raises:
            InvalidActionError: a key does not exist.
        """
        self._require_keys(names)
        self.state.received.append(("key_up", *names))

    def _require_keys(self, names: Sequence[str]) -> None:
        self.faults.check("input")
        self.require_running()
        for name in names:
            if len(name) > 1 and name not in _NAMED_KEYS:
                raise InvalidActionError(f"There is no key called {name!r}.")

    def text(self, text: str) -> None:
        """Type; a newline enters the line. Has no effect without an open application."""
        self.faults.check("input")
        self.require_running()
        if not self.state.apps:
            return
        *lines, rest = text.split("\n")
        for line in lines:
            self.state.line += line
            self._enter()
        self.state.line += rest

    def open_app(self, name: str) -> None:
        """Bring an application to the foreground.

        Raises:
            GuestCallError: the application does not exist.
        """
        if name not in _APPS:
            error = GuestCallError(f"No application is called {name!r}.")
            error.kind = "not_found"
            raise error
        self.state.apps = [*(app for app in self.state.apps if app != name), name]

    def answer(  # noqa: C901, PLR0911 - one case per operation
        self, op: str, params: dict[str, Json], timeout_s: float
    ) -> Json:
        """Carry out one of the probe's operations.

        Raises:
            GuestCallError: the operation is unknown, or failed.
        """
        match op:
            case "ping":
                return {"pid": 1, "version": "fake", "clock_s": self.clock.now_s(), "boot_id": "0"}
            case "open_app":
                name = str(params["name"])
                self.open_app(name)
                return {"id": _APPS[name], "name": name}
            case "search_apps":
                words = str(params["words"]).lower()
                return [name for name in _APPS if words in name.lower()]
            case "launch":
                return self._launch([str(word) for word in cast("list[Json]", params["argv"])])
            case "exec":
                argv = [str(word) for word in cast("list[Json]", params["argv"])]
                return self._exec(argv)
            case "put":
                return self._put(params)
            case "windows":
                return self._windows()
            case "activity":
                return {"cpu_s": 0.0, "idle_s": 0.0, "clock_s": self.clock.monotonic_s()}
            case "documents":
                return self._documents()
            case "bundle":
                modules = cast("dict[str, str]", params["modules"])
                return self.state.judge.load(str(params["digest"]), modules)
            case "evaluate":
                return self.state.judge.evaluate(self, params)
            case _:
                raise GuestCallError(f"Unknown operation {op!r}.")

    def summarize(self) -> StateSummary:
        """Return fingerprints of its files, settings and processes, like a desktop's probe.

        Raises:
            LinkClosedError: the desktop is not running.
        """
        files = super().summarize()[StateKind.FILE]
        settings = self.state.settings.items()
        return {
            StateKind.FILE: {path.replace(HOME, "~", 1): row for path, row in files.items()},
            StateKind.SETTING: {
                f"/{schema.replace('.', '/')}/{key}": value for (schema, key), value in settings
            },
            StateKind.PROCESS: dict.fromkeys(self.process_names(), "1"),
        }

    def keep_state(self, folder: Path) -> None:
        """Keep its state in a folder; see `keep_fake`."""
        keep_fake(self, folder)

    def process_names(self) -> list[str]:
        """Return the names of all processes."""
        return [*self.state.daemons, *(_APPS[app] for app in self.state.apps)]

    def _windows(self) -> Json:
        return [
            {
                "id": number,
                "title": app,
                "wm_class": [_APPS[app], _CLASSES[app]],
                "pid": number,
                "geometry": [0, 0, *SIZE],
                "active": app == self.state.apps[-1],
            }
            for number, app in enumerate(self.state.apps, 2)
        ]

    def _documents(self) -> Json:
        """Return what the active application shows as its document."""
        if not self.state.apps:
            return {"documents": [], "is_complete": False}
        document: dict[str, Json] = {
            "role": "text",
            "name": self.state.document,
            "url": "",
            "busy": False,
            "content": 1,
        }
        return {"documents": [document], "is_complete": True}

    def _put(self, params: dict[str, Json]) -> Json:
        path, offset = str(params["path"]), int(str(params["offset"]))
        before = self.state.files[path].data if offset else b""
        data = before[:offset] + base64.b64decode(str(params["data_b64"]))
        mode = int(str(params.get("mode", 0o644)))
        owner = str(params.get("user", "user"))
        self.state.files[path] = FakeFile(data, mode, self.clock.now_s(), owner)
        return {}

    def _launch(self, argv: list[str]) -> Json:
        """Start what ``gio`` would start; files open in the text editor."""
        match argv:
            case ["/usr/bin/gio", "launch", path, *opened] if path in _DESKTOP_FILES:
                self.open_app(_DESKTOP_FILES[path])
                self.state.document = "".join(opened)
            case ["/usr/bin/gio", "open", path]:
                self.open_app("Text Editor")
                self.state.document = path
            case _:
                raise GuestCallError(f"there is no program {argv[0]!r}")
        return {}

    def _exec(self, argv: list[str]) -> Json:
        out = self.run_command(argv)
        code = 127 if out is None else 0
        text = base64.b64encode((out or "").encode()).decode()
        return {"exit_code": code, "stdout_b64": text, "stderr_b64": "", "truncated": False}

    def _enter(self) -> None:
        line, self.state.line = self.state.line, ""
        self.state.lines.append(line)
        if self.state.apps and self.state.apps[-1] == "Terminal":
            try:
                out = run_line(self, line)
            except ValueError:
                out = None
            self.state.lines.append("command not found" if out is None else out)

    def run_command(self, argv: list[str]) -> str | None:
        """Run a command line; see `provisioning.fake.shell`.

        Returns:
            Its output, or None for an unknown command.
        """
        return run_command(self, argv)

    def names(self) -> list[str]:
        """Return the paths of all files, and of the applications' desktop files."""
        return [*self.state.files, *_DESKTOP_FILES]

    def stat(self, path: str) -> FileStat | None:
        """Return the metadata of a file, including the applications' desktop files."""
        if path in _DESKTOP_FILES:
            return FileStat(1, stat.S_IFREG | 0o644, 0.0)
        return super().stat(path)
