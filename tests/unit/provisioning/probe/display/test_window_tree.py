"""Windows according to a real X server, with and without a real window manager."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pytest

from foundation import process
from foundation.clock import wait_until
from provisioning.probe.display import window_tree, windows, xserver
from tests.tiers import STAND_IN

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator, Mapping

    from Xlib.display import Display

    Started = subprocess.Popen[bytes]  # noqa: TID251 (a type only)

NEEDED = ("Xvfb", "openbox")
pytestmark = [
    STAND_IN,
    pytest.mark.skipif(
        any(process.find_tool(name) is None for name in NEEDED), reason=f"needs {', '.join(NEEDED)}"
    ),
]


@contextlib.contextmanager
def started(*argv: str, env: Mapping[str, str] | None = None) -> Iterator[Started]:
    child = process.start(list(argv), env=env or {})
    try:
        yield child
    finally:
        process.kill_group(child)
        child.communicate()


@pytest.fixture
def name() -> Iterator[str]:
    """Return the name of a display."""
    with started(
        "Xvfb", "-displayfd", "1", "-screen", "0", "800x600x24", "-ac", "-noreset"
    ) as child:
        assert child.stdout is not None
        yield f":{child.stdout.readline().decode().strip()}"


@pytest.fixture(params=["openbox", "no window manager"])
def display(name: str, request: pytest.FixtureRequest) -> Iterator[Display]:
    """Return the evaluator's connection."""
    with contextlib.ExitStack() as stack:
        shown = xserver.open_display(name)
        stack.callback(shown.close)
        if request.param == "openbox":
            env = {"DISPLAY": name, "HOME": "/nonexistent"}
            stack.enter_context(started("openbox", "--sm-disable", env=env))
            assert wait_until(lambda: windows.shown_parts(shown)["window_manager"], timeout_s=20)
            assert wait_until(lambda: is_managing(shown), timeout_s=20)
        yield shown


def is_managing(display: Display) -> bool:
    """Return whether a new window is shown; openbox misses windows created while it starts."""
    from Xlib import X

    window = display.screen().root.create_window(0, 0, 9, 9, 0, X.CopyFromParent)
    window.map()
    display.sync()
    is_shown = wait_until(lambda: window.get_attributes().map_state == X.IsViewable, timeout_s=1)
    window.destroy()
    display.sync()
    return bool(is_shown)


class Program:
    """A program with windows and its own connection."""

    def __init__(self, name: str) -> None:
        self._display = xserver.open_display(name)
        self._root = self._display.screen().root

    def window(self, *geometry: int, mapped: bool = True) -> Any:  # noqa: ANN401
        """Create a window and focus it if it is to be shown."""
        from Xlib import X

        window = self._root.create_window(*geometry, 0, X.CopyFromParent)
        window.set_wm_class("gedit", "Gedit")
        left, top, width, height = geometry
        # User-specified position, which window managers keep.
        window.set_wm_normal_hints(flags=1, x=left, y=top, width=width, height=height)
        if mapped:
            window.map()
            self.sync()
            assert wait_until(lambda: self._is_shown(window), timeout_s=10)
            self.focus(window)
        self.sync()
        return window

    def focus(self, window: Any) -> None:  # noqa: ANN401
        from Xlib import X

        window.set_input_focus(X.RevertToParent, X.CurrentTime)
        self.sync()

    def write(self, name: str, *ids: int, on: Any = None) -> None:  # noqa: ANN401
        """Write a property with window identifiers, on the root window by default."""
        from Xlib import Xatom

        target = on or self._root
        target.change_property(self._display.get_atom(name), Xatom.WINDOW, 32, list(ids))
        self.sync()

    def remove(self, name: str, on: Any) -> None:  # noqa: ANN401
        on.delete_property(self._display.get_atom(name))
        self.sync()

    def minimise(self, window: Any) -> None:  # noqa: ANN401
        from Xlib import X
        from Xlib.protocol import event

        message = event.ClientMessage(
            window=window,
            client_type=self._display.get_atom("WM_CHANGE_STATE"),
            data=(32, [3, 0, 0, 0, 0]),
        )
        mask = X.SubstructureRedirectMask | X.SubstructureNotifyMask
        self._root.send_event(message, event_mask=mask)
        self.sync()

    def shape(self, window: Any, *rectangles: tuple[int, int, int, int], kind: int = 0) -> None:  # noqa: ANN401
        """Replace the shape of any window: kind 0 is its outline, 1 what it may paint."""
        from Xlib.ext import shape

        extension = self._display.query_extension(shape.extname)
        shape.Rectangles(
            display=self._display.display,
            opcode=extension.major_opcode,
            operation=shape.SO.Set,
            destination_kind=kind,
            ordering=0,
            destination_window=window.id,
            x_offset=0,
            y_offset=0,
            rectangles=rectangles,
        )
        self.sync()

    def fade(self, window: Any, opacity: int) -> None:  # noqa: ANN401
        from Xlib import Xatom

        name = self._display.get_atom("_NET_WM_WINDOW_OPACITY")
        target = self._display.create_resource_object("window", window.id)
        target.change_property(name, Xatom.CARDINAL, 32, [opacity])
        self.sync()

    def sync(self) -> None:
        self._display.sync()

    def close(self) -> None:
        self._display.close()

    def _is_shown(self, window: Any) -> bool:  # noqa: ANN401
        from Xlib import X

        return bool(window.get_attributes().map_state == X.IsViewable)


Programs = tuple[Program, Program]


@pytest.fixture
def programs(name: str, display: Display) -> Iterator[Programs]:
    pair = Program(name), Program(name)
    yield pair
    for program in pair:
        program.close()


def ids(display: Display) -> list[int]:
    return [row["id"] for row in window_tree.list_windows(display)]


def in_front(display: Display) -> list[int]:
    return [row["id"] for row in window_tree.list_windows(display) if row["active"]]


def test_program_windows_are_listed_once_each(display: Display, programs: Programs) -> None:
    editor, calculator = programs
    first, second = editor.window(10, 10, 200, 100), calculator.window(300, 300, 200, 100)
    editor.window(0, 0, 10, 10, mapped=False)
    assert ids(display) == [first.id, second.id]
    rows = {row["id"]: row for row in window_tree.list_windows(display)}
    assert rows[first.id]["wm_class"] == ["gedit", "Gedit"]
    assert rows[first.id]["geometry"][2:] == [200, 100]


def test_root_properties_are_ignored(display: Display, programs: Programs) -> None:
    editor, calculator = programs
    first, second = calculator.window(10, 10, 200, 100), editor.window(300, 300, 200, 100)
    leader = editor.window(0, 0, 10, 10, mapped=False)
    assert wait_until(lambda: in_front(display) == [second.id], timeout_s=10)
    for name in ("_NET_CLIENT_LIST", "_NET_CLIENT_LIST_STACKING"):
        calculator.write(name, first.id, first.id, leader.id)
    calculator.write("_NET_ACTIVE_WINDOW", first.id)
    assert [row["id"] for row in windows.list_windows(display)] == [first.id, first.id, leader.id]
    assert sorted(ids(display)) == sorted([first.id, second.id])
    assert in_front(display) == [second.id]


def test_window_that_denies_being_managed_is_listed(display: Display, programs: Programs) -> None:
    editor, calculator = programs
    window = editor.window(10, 10, 200, 100)
    calculator.remove("WM_STATE", window)
    assert ids(display) == [window.id]


def test_minimised_window_counts(display: Display, programs: Programs) -> None:
    if not windows.shown_parts(display)["window_manager"]:
        pytest.skip("nobody minimises")
    editor, calculator = programs
    first, second = editor.window(10, 10, 200, 100), calculator.window(300, 300, 200, 100)
    editor.minimise(first)
    from Xlib import X

    assert wait_until(lambda: first.get_attributes().map_state != X.IsViewable, timeout_s=10)
    assert sorted(ids(display)) == sorted([first.id, second.id])
    assert in_front(display) == [second.id]


def test_keyboard_focus_alone_does_not_bring_a_window_to_the_front(
    display: Display, programs: Programs
) -> None:
    editor, calculator = programs
    below = calculator.window(50, 50, 100, 100)
    above = editor.window(20, 20, 400, 400)
    assert wait_until(lambda: in_front(display) == [above.id], timeout_s=10)
    calculator.focus(below)
    assert in_front(display) in ([], [below.id])
    # Whatever the window manager does on a focus change, a window below is not in front.
    assert (ids(display)[-1] == below.id) is (in_front(display) == [below.id])


def test_field_inside_a_window_can_have_the_focus(display: Display, programs: Programs) -> None:
    from Xlib import X

    editor, _ = programs
    window = editor.window(10, 10, 200, 100)
    field = window.create_window(0, 0, 50, 20, 0, X.CopyFromParent)
    field.map()
    editor.sync()
    editor.focus(field)
    assert in_front(display) == [window.id]
    assert ids(display) == [window.id]


def test_too_many_windows_are_an_error(
    display: Display, programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(window_tree, "MAX_WINDOWS", 1)
    editor, _ = programs
    for _ in range(2):
        editor.window(10, 10, 200, 100, mapped=False)
    with pytest.raises(window_tree.TooManyWindowsError):
        window_tree.list_windows(display)


def visible(display: Display) -> list[int]:
    return [row["id"] for row in window_tree.list_windows(display) if row["visible"]]


@pytest.mark.parametrize(
    ("rectangles", "kind", "is_visible"),
    [
        ([(5, 5, 1, 1)], 0, False),
        ([(0, 0, 1, 1), (199, 99, 1, 1)], 0, False),
        ([(0, row, 200, 1) for row in range(0, 100, 8)], 0, False),
        ([], 0, False),
        ([(500, 500, 99, 99)], 0, False),
        ([(5, 5, 1, 1)], 1, False),
        ([(2, 0, 196, 2), (0, 2, 200, 98)], 0, True),
        ([(0, 0, 200, 60)], 1, True),
    ],
)
def test_a_window_with_hardly_any_shape_is_not_visible(
    display: Display,
    programs: Programs,
    rectangles: list[tuple[int, int, int, int]],
    kind: int,
    *,
    is_visible: bool,
) -> None:
    editor, other = programs
    window = editor.window(10, 10, 200, 100)
    assert visible(display) == [window.id]
    other.shape(window, *rectangles, kind=kind)
    assert ids(display) == [window.id]
    assert visible(display) == ([window.id] if is_visible else [])


def test_a_window_in_a_frame_with_hardly_any_shape_is_not_visible(
    display: Display, programs: Programs
) -> None:
    if not windows.shown_parts(display)["window_manager"]:
        pytest.skip("nobody makes frames")
    editor, other = programs
    window = editor.window(10, 10, 200, 100)
    frame = window.query_tree().parent
    other.shape(frame, (0, 0, 200, 2))
    assert visible(display) == []
    other.shape(frame, (0, 0, 1000, 1000))
    assert visible(display) == [window.id]


def test_a_transparent_window_is_not_visible(display: Display, programs: Programs) -> None:
    editor, other = programs
    window = editor.window(10, 10, 200, 100)
    other.fade(window, 0xCCCCCCCC)
    assert visible(display) == [window.id]
    other.fade(window, 0)
    assert visible(display) == []


@pytest.mark.parametrize(
    ("place", "is_visible"), [((-1000, 0), False), ((0, 5000), False), ((780, 500), True)]
)
def test_a_window_beyond_the_screen_is_not_visible(
    name: str, place: tuple[int, int], *, is_visible: bool
) -> None:
    display, program = xserver.open_display(name), Program(name)
    window = program.window(10, 10, 200, 100)
    window.configure(x=place[0], y=place[1])
    program.sync()
    assert visible(display) == ([window.id] if is_visible else [])
    program.close()
    display.close()


def test_a_minimised_window_is_visible_unless_its_shape_hides_it(
    display: Display, programs: Programs
) -> None:
    if not windows.shown_parts(display)["window_manager"]:
        pytest.skip("nobody minimises")
    from Xlib import X

    editor, other = programs
    window = editor.window(10, 10, 200, 100)
    editor.minimise(window)
    assert wait_until(lambda: window.get_attributes().map_state != X.IsViewable, timeout_s=10)
    assert visible(display) == [window.id]
    other.shape(window, (5, 5, 1, 1))
    assert (ids(display), visible(display)) == ([window.id], [])
