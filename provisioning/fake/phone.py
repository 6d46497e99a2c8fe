"""An in-memory phone: a launcher, tasks, contacts, settings, and a shell like Android's."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

from foundation.clock import SYSTEM_CLOCK, Clock
from foundation.errors import GuestCallError, InvalidActionError
from provisioning.fake.canvas import draw
from provisioning.fake.end_state import keep_fake
from provisioning.fake.machine import FakeMachine, FakeState
from provisioning.protocols import Bounds, Button, Element, Json, MachineInfo, StateKind
from provisioning.resource import PHONE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt

    from provisioning.protocols import Point, StateSummary

SIZE = (180, 400)
_ROW_PX = 25
LAUNCHER = "org.mesocosm.launcher"
PACKAGES = {
    "Tasks": "com.google.android.apps.tasks",
    "Contacts": "com.google.android.contacts",
    "Settings": "com.android.settings",
}
_DATA = "content://com.android.contacts/data"
_OWNERS = {
    "content://com.google.android.apps.tasks/tasks": PACKAGES["Tasks"],
    _DATA: PACKAGES["Contacts"],
}
_VIEWS = {
    "content://com.android.contacts/contacts": ("/name", "display_name"),
    "content://com.android.contacts/data/phones": ("/phone_v2", "data1"),
    "content://com.android.contacts/data/emails": ("/email_v2", "data1"),
}
_KEYS = frozenset({"HOME", "BACK", "ENTER", "DEL", "TAB", "APP_SWITCH", "MENU", "SEARCH"})


@dataclass(slots=True)
class PhoneState(FakeState):
    """The state that a snapshot of the fake phone keeps.

    Attributes:
        front: package in the foreground.
        rows: rows of each content provider, by URI.
        settings: values by (namespace, key).
        line: text in the focused field.
    """

    front: str = LAUNCHER
    rows: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    settings: dict[tuple[str, str], str] = field(default_factory=dict)
    line: str = ""

    def insert(self, uri: str, binds: list[str]) -> None:
        """Add a row, as ``content insert`` does; its ``_id`` is the next number."""
        rows = self.rows.setdefault(uri, [])
        pairs = [word.split(":", 2) for word in binds if word != "--bind"]
        rows.append({"_id": str(len(rows) + 1), **{name: value for name, _, value in pairs}})

    def rows_of(self, uri: str) -> list[dict[str, str]]:
        """Return the rows of a URI; rows of contacts are views of the data rows."""
        if uri not in _VIEWS:
            return self.rows.get(uri, [])
        kind, column = _VIEWS[uri]
        rows = [row for row in self.rows.get(_DATA, []) if row.get("mimetype", "").endswith(kind)]
        return [
            {
                "_id": row["raw_contact_id"] if column == "display_name" else row["_id"],
                "contact_id": row["raw_contact_id"],
                column: row.get("data1", ""),
            }
            for row in rows
        ]


class FakePhone(FakeMachine[PhoneState]):
    """A phone of 180x400 px; it is its own `Input`.

    Args:
        machine_id: its id.
        clock: clock used for file times and rewinds.
        reset_s: reported duration of a rewind.
    """

    def __init__(
        self, machine_id: str = "phone-fake", clock: Clock = SYSTEM_CLOCK, *, reset_s: float = 0.0
    ) -> None:
        info = MachineInfo(
            machine_id,
            PHONE,
            "fake",
            "phone:fake",
            "0" * 64,
            accelerator="none",
            user="shell",
            home="/sdcard",
        )
        super().__init__(info, PhoneState(), clock, reset_s=reset_s)

    @property
    def input(self) -> FakePhone:
        """Return its input devices."""
        return self

    def size(self) -> tuple[int, int]:
        """Return width and height in px."""
        return SIZE

    def capture(self) -> npt.NDArray[np.uint8]:
        """Draw the screen: uint8 array (H, W, 3), RGB."""
        self.faults.check("capture")
        self.require_running()
        return draw(SIZE, self._elements())

    def keep_state(self, folder: Path) -> None:
        """Keep its state in a folder; see `keep_fake`."""
        keep_fake(self, folder)

    def summarize(self) -> StateSummary:
        """Return fingerprints of its files, settings and rows, like the reference phone.

        Raises:
            LinkClosedError: the phone is not running.
        """
        rows = {
            f"{uri.removeprefix('content://')} {', '.join(f'{key}={value}' for key, value in row.items())}": ""
            for uri, rows in self.state.rows.items()
            for row in rows
        }
        settings = {f"{space}/{key}": value for (space, key), value in self.state.settings.items()}
        return {
            **super().summarize(),
            StateKind.SETTING: settings,
            StateKind.RECORD: rows,
        }

    def elements(self) -> Sequence[Element]:
        """Return the title and the rows of the application in the foreground."""
        self.faults.check("tree")
        return self._elements()

    def _rows(self) -> list[str]:
        if self.state.front == LAUNCHER:
            return list(PACKAGES)
        rows = [
            row.get("title") or row.get("data1") or ""
            for uri, kept in sorted(self.state.rows.items())
            if _OWNERS.get(uri) == self.state.front
            for row in kept
        ]
        return [*rows, f"> {self.state.line}"]

    def _elements(self) -> list[Element]:
        elements = [
            Element("android.widget.TextView", self.state.front, Bounds(0, 0, SIZE[0], _ROW_PX))
        ]
        states = frozenset({"clickable", "enabled"})
        for index, name in enumerate(self._rows(), 1):
            box = Bounds(0, index * _ROW_PX, SIZE[0], (index + 1) * _ROW_PX)
            elements.append(Element("android.widget.Button", name, box, states, depth=1))
        return [element for element in elements if element.bounds.bottom <= SIZE[1]]

    def move(self, x: int, y: int) -> None:
        """Do nothing: a phone has no pointer."""

    def click(
        self,
        x: int,
        y: int,
        *,
        button: Button = Button.LEFT,
        count: int = 1,
        held: Sequence[str] = (),
    ) -> None:
        """Tap; a tap on an icon of the launcher opens its application."""
        del held
        self._touch("click", (x, y), button, count)
        row = y // _ROW_PX - 1
        rows = self._rows()
        if self.state.front == LAUNCHER and 0 <= row < len(rows):
            self.open_app(rows[row])

    def button_down(self, x: int, y: int, *, button: Button = Button.LEFT) -> None:
        """Put a finger down; nothing reacts."""
        self._touch("press", (x, y), button)

    def button_up(self, x: int, y: int, *, button: Button = Button.LEFT) -> None:
        """Lift the finger; nothing reacts."""
        self._touch("release", (x, y), button)

    def drag(
        self,
        path: Sequence[Point],
        *,
        button: Button = Button.LEFT,
        duration_s: float = 0.3,
        held: Sequence[str] = (),
    ) -> None:
        """Swipe; nothing moves."""
        del button, duration_s, held
        self._touch("drag", *path)

    def gesture(self, paths: Sequence[Sequence[Point]], *, duration_s: float = 0.3) -> None:
        """Touch with several fingers; nothing moves."""
        del duration_s
        self._touch("gesture", *(tuple(path) for path in paths))

    def scroll(self, x: int, y: int, *, dx: int = 0, dy: int = 0, held: Sequence[str] = ()) -> None:
        """Turn the wheel; nothing scrolls."""
        del held
        self._touch("wheel", (x, y), dx, dy)

    def _touch(self, *received: object) -> None:
        self.faults.check("input")
        self.require_running()
        self.state.received.append(received)

    def key(self, *names: str, hold_s: float = 0.0) -> None:
        """Press keys: HOME and BACK return to the launcher.

        Raises:
            InvalidActionError: a key does not exist.
        """
        del hold_s
        self.faults.check("input")
        self.require_running()
        for name in names:
            if name not in _KEYS:
                raise InvalidActionError(f"There is no key called {name!r}.")
            if name in {"HOME", "BACK"}:
                self.state.front, self.state.line = LAUNCHER, ""

    def key_down(self, *names: str) -> None:
        """Refuse: Android's command presses and releases keys at once.

        Raises:
            InvalidActionError: always.
        """
        raise InvalidActionError(f"A phone cannot keep {', '.join(names)} pressed.")

    key_up = key_down

    def text(self, text: str) -> None:
        """Type into the field of the application in the foreground."""
        self.faults.check("input")
        self.require_running()
        if self.state.front != LAUNCHER:
            self.state.line += text

    def open_app(self, name: str) -> None:
        """Bring an application to the foreground, by its label or package.

        Raises:
            GuestCallError: the application does not exist.
        """
        package = PACKAGES.get(name, name)
        if package not in PACKAGES.values():
            raise GuestCallError(f"No application is called {name!r}.")
        self.state.front, self.state.line = package, ""

    def answer(self, op: str, params: dict[str, Json], timeout_s: float) -> Json:
        """Answer ``ping`` and ``open_app``; other communication with a phone uses `run`.

        Raises:
            GuestCallError: the operation is unknown.
        """
        match op:
            case "ping":
                return {"pid": 1, "version": "fake", "clock_s": self.clock.now_s(), "boot_id": "0"}
            case "open_app":
                self.open_app(str(params["name"]))
                return {}
            case _:
                raise GuestCallError(f"Unknown operation {op!r}.")

    def run_command(self, argv: list[str]) -> str | None:  # noqa: PLR0911 - one case per command
        """Run a command as Android's shell would."""
        match argv:
            case ["dumpsys", "activity", "activities"]:
                front = f"ActivityRecord{{1 u0 {self.state.front}/.MainActivity t1}}"
                return f"  mResumedActivity: {front}\n  topResumedActivity={front}\n"
            case ["pm", "list", "packages", *_]:
                return "".join(f"package:{name}\n" for name in sorted(PACKAGES.values()))
            case ["settings", "get", space, key]:
                return f"{self.state.settings.get((space, key), 'null')}\n"
            case ["settings", "put", space, key, value]:
                self.state.settings[space, key] = value
                return ""
            case ["am" | "monkey", *arguments] if open_ := _package_in(arguments):
                self.open_app(open_)
                return "Starting: Intent\n"
            case ["content", "insert", "--uri", uri, *binds]:
                self.state.insert(uri, binds)
                return ""
            case ["content", "query", "--uri", uri, "--projection", columns, *_]:
                return _table(self.state.rows_of(uri), columns.split(":"))
            case ["uiautomator", "dump", *_]:
                return _hierarchy(self._elements(), self.state.front)
            case _:
                return None


def _package_in(arguments: list[str]) -> str | None:
    for argument in arguments:
        package = argument.split("/")[0]
        if package in PACKAGES.values():
            return package
    return None


def _table(rows: list[dict[str, str]], columns: list[str]) -> str:
    if not rows:
        return "No result found.\n"
    return "".join(
        f"Row: {index} " + ", ".join(f"{name}={row.get(name, 'NULL')}" for name in columns) + "\n"
        for index, row in enumerate(rows)
    )


def _hierarchy(elements: list[Element], package: str) -> str:
    nodes = "".join(
        f'<node index="{index}" text={quoteattr(node.name)} resource-id="" class="{node.role}" '
        f'package="{package}" content-desc="" checkable="false" checked="false" clickable="true" '
        'enabled="true" focusable="false" focused="false" scrollable="false" '
        'long-clickable="false" password="false" selected="false" '
        f'bounds="[{node.bounds.left},{node.bounds.top}][{node.bounds.right},{node.bounds.bottom}]" />'
        for index, node in enumerate(elements)
    )
    return (
        "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>"
        f'<hierarchy rotation="0">{nodes}</hierarchy>UI hierchary dumped to: /dev/tty\n'
    )
