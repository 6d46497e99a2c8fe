"""Tests of screen, input, windows and tree through the probe, on a real X server."""

from __future__ import annotations

import contextlib
import os
import re
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from foundation.clock import wait_until
from foundation.errors import GuestCallError, InvalidActionError
from provisioning.links.guest_io import LinkInput, LinkScreen, LinkTree
from provisioning.protocols import Button, Input, Screen, Tree
from tests.standins.desktop import SIZE, DesktopStandIn, desktop_on_host
from tests.tiers import STAND_IN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from provisioning.links.client import LinkClient

pytestmark = STAND_IN
TEXT = "Grüße, 'q\"uo\\te$ ✓ 日本 ~@#{}[]|&*? " + "".join(map(chr, range(0x3041, 0x3091)))


@pytest.fixture(scope="module")
def desktop() -> Iterator[DesktopStandIn]:
    with desktop_on_host() as stand_in:
        yield stand_in


@pytest.fixture(scope="module")
def link(desktop: DesktopStandIn) -> Iterator[LinkClient]:
    client = desktop.connect()
    yield client
    client.close()


def windows(link: LinkClient) -> list[dict[str, Any]]:
    return cast("list[dict[str, Any]]", link.call("windows"))


def window(link: LinkClient, title: str) -> dict[str, Any]:
    active_windows = wait_until(
        lambda: [
            window for window in windows(link) if title in window["title"] and window["active"]
        ],
        timeout_s=60,
    )
    assert active_windows, windows(link)
    return active_windows[0]


def test_link_adapters_implement_the_protocols(link: LinkClient) -> None:
    assert isinstance(LinkScreen(link), Screen)
    assert isinstance(LinkInput(link), Input)
    assert isinstance(LinkTree(link), Tree)


def test_probe_finds_the_session_by_its_processes(
    desktop: DesktopStandIn, link: LinkClient
) -> None:
    state = link.call("session")
    assert isinstance(state, dict)
    assert (state["ready"], state["display"]) == (True, desktop.display)
    assert state["window_manager"] == "Openbox"


# python-xlib leaves the cookie file to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_picture_shows_the_screen(
    desktop: DesktopStandIn, link: LinkClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XAUTHORITY", "/dev/null")
    desktop.paint(0x12C456)
    frame = LinkScreen(link).capture()
    assert (frame.shape, frame.dtype.name) == ((SIZE[1], SIZE[0], 3), "uint8")
    assert frame[SIZE[1] - 1, SIZE[0] - 1].tolist() == [0x12, 0xC4, 0x56]
    assert LinkScreen(link).size() == SIZE


def test_launched_window_is_listed_with_title_process_and_place(link: LinkClient) -> None:
    link.call("launch", {"argv": ["xterm", "-T", "mine", "-geometry", "40x10+200+150"]})
    xterm_window = window(link, "mine")
    assert xterm_window["wm_class"] == ["xterm", "XTerm"]
    left, top, width, height = xterm_window["geometry"]
    assert (200 <= left < 230, 150 <= top < 190) == (True, True)
    assert width > 100
    assert height > 50
    os.kill(xterm_window["pid"], signal.SIGTERM)


def test_unknown_program_is_reported(link: LinkClient) -> None:
    with pytest.raises(GuestCallError) as caught:
        link.call("launch", {"argv": ["no-such-program"]})
    assert caught.value.kind == "not_found"


def test_applications_start_by_their_menu_name(link: LinkClient) -> None:
    assert link.call("open_app", {"name": "xterm"}) is not None
    xterm_windows = wait_until(
        lambda: [window for window in windows(link) if window["wm_class"] == ["xterm", "XTerm"]],
        timeout_s=20,
    )
    assert xterm_windows
    os.kill(xterm_windows[0]["pid"], signal.SIGTERM)


def test_launched_program_may_write_output_later(link: LinkClient, desktop: DesktopStandIn) -> None:
    path = desktop.folder / "said"
    words = f"sleep 0.7; echo out; echo err >&2; echo done > {path}"
    link.call("launch", {"argv": ["/bin/sh", "-c", words]})
    assert wait_until(path.is_file, timeout_s=20)


def test_applications_are_found_by_words_and_not_started(link: LinkClient) -> None:
    before = link.call("windows")
    assert "XTerm" in cast("list[str]", link.call("search_apps", {"words": "xterm"}))
    assert link.call("search_apps", {"words": "no-such-thing"}) == []
    assert link.call("windows") == before


def test_unknown_application_is_reported_with_nearest_match(link: LinkClient) -> None:
    with pytest.raises(GuestCallError, match="XTerm"):
        link.call("open_app", {"name": "xtrem"})


def test_any_text_is_typed_unchanged(link: LinkClient, desktop: DesktopStandIn) -> None:
    path = desktop.folder / "typed"
    argv = ["xterm", "-u8", "-T", "typing", "-e", "/bin/sh", "-c", f"cat > {path}"]
    link.call("launch", {"argv": [*argv]})
    window(link, "typing")
    LinkInput(link).text(TEXT + "\n")
    LinkInput(link).key("ctrl", "d")
    assert wait_until(
        lambda: not [window for window in windows(link) if window["title"] == "typing"],
        timeout_s=20,
    )
    assert path.read_text() == TEXT + "\n"


def test_more_characters_than_spare_keys_are_typed(
    link: LinkClient, desktop: DesktopStandIn
) -> None:
    path, text = desktop.folder / "much", "".join(map(chr, range(0x4E00, 0x4E00 + 110)))
    argv = ["xterm", "-u8", "-T", "much", "-e", "/bin/sh", "-c", f"cat > {path}"]
    link.call("launch", {"argv": [*argv]})
    window(link, "much")
    LinkInput(link).text(f"{text}\n{text[::-1]}\n")
    LinkInput(link).key("Ctrl", "d")
    assert wait_until(
        lambda: not [window for window in windows(link) if window["title"] == "much"], timeout_s=20
    )
    assert path.read_text() == f"{text}\n{text[::-1]}\n"


def test_control_character_cannot_be_typed(link: LinkClient) -> None:
    with pytest.raises(InvalidActionError, match="0007"):
        LinkInput(link).text("a\x07")


@pytest.mark.parametrize("name", ["nokey", "Hyper_Q", ""])
def test_unknown_key_is_the_callers_error(link: LinkClient, name: str) -> None:
    with pytest.raises(InvalidActionError):
        LinkInput(link).key(name)


class Recorder:
    """Recorder of the events that a window at a known position receives."""

    def __init__(self, link: LinkClient, path: Path, kind: str = "button") -> None:
        self.path = path
        script = f"exec xev -event {kind} -name heard -geometry 400x300+300+200 > {path}"
        link.call("launch", {"argv": ["/bin/sh", "-c", script]})
        self.pid = window(link, "heard")["pid"]

    def events(self) -> list[tuple[str, int, int, int]]:
        pattern = r"Button(Press|Release) event.*?root:\((\d+),(\d+)\).*?button (\d+)"
        matches = re.findall(pattern, self.path.read_text(), re.DOTALL)
        return [(kind, int(x), int(y), int(button)) for kind, x, y, button in matches]

    def wait(self, count: int) -> list[tuple[str, int, int, int]]:
        wait_until(lambda: len(self.events()) >= count, timeout_s=10)
        return self.events()


@pytest.fixture
def recorder(
    link: LinkClient, desktop: DesktopStandIn, request: pytest.FixtureRequest
) -> Iterator[Recorder]:
    name = re.sub(r"\W", "_", request.node.name)
    kind = getattr(request, "param", "button")
    recorder = Recorder(link, desktop.folder / f"{name}.log", kind)
    yield recorder
    LinkInput(link).key("alt", "F4")
    wait_until(
        lambda: not [window for window in windows(link) if window["title"] == "heard"], timeout_s=10
    )


def test_clicks_arrive_at_their_coordinates(link: LinkClient, recorder: Recorder) -> None:
    LinkInput(link).move(10, 10)
    LinkInput(link).click(500, 400)
    LinkInput(link).click(510, 410, button=Button.RIGHT)
    LinkInput(link).click(520, 420, count=2)
    presses = [event[1:] for event in recorder.wait(8) if event[0] == "Press"]
    assert presses == [(500, 400, 1), (510, 410, 3), (520, 420, 1), (520, 420, 1)]


def test_clicks_of_a_double_click_are_as_far_apart_as_the_server_says(
    link: LinkClient, recorder: Recorder
) -> None:
    for _ in range(5):
        LinkInput(link).click(520, 420, count=2)
    recorder.wait(20)
    times = [
        int(time)
        for time in re.findall(r"ButtonPress.*?time (\d+)", recorder.path.read_text(), re.DOTALL)
    ]
    apart_ms = [second - first for first, second in zip(times[::2], times[1::2], strict=True)]
    # The server waits 100 ms; GTK takes 400 ms for two clicks.
    assert all(90 <= ms < 350 for ms in apart_ms), apart_ms


def test_drag_presses_at_the_start_and_releases_at_the_end(
    link: LinkClient, recorder: Recorder
) -> None:
    LinkInput(link).drag([(400, 300), (600, 450)], duration_s=0.2)
    assert recorder.wait(2) == [("Press", 400, 300, 1), ("Release", 600, 450, 1)]


def test_middle_and_triple_clicks_arrive(link: LinkClient, recorder: Recorder) -> None:
    LinkInput(link).click(500, 400, button=Button.MIDDLE)
    LinkInput(link).click(510, 410, count=3)
    presses = [event[1:] for event in recorder.wait(8) if event[0] == "Press"]
    assert presses == [(500, 400, 2), (510, 410, 1), (510, 410, 1), (510, 410, 1)]


def test_button_is_pressed_at_one_place_and_released_at_another(
    link: LinkClient, recorder: Recorder
) -> None:
    LinkInput(link).button_down(400, 300, button=Button.RIGHT)
    assert recorder.wait(1) == [("Press", 400, 300, 3)]
    LinkInput(link).button_up(600, 450, button=Button.RIGHT)
    assert recorder.wait(2)[1:] == [("Release", 600, 450, 3)]


@pytest.mark.parametrize(("held", "bits"), [(["ctrl"], 0x4), (["shift", "ctrl"], 0x5), ([], 0)])
def test_modifiers_are_held_during_a_click_and_not_afterwards(
    link: LinkClient, recorder: Recorder, held: list[str], bits: int
) -> None:
    LinkInput(link).click(500, 400, held=held)
    LinkInput(link).click(500, 400)
    recorder.wait(4)
    states = re.findall(r"ButtonPress.*?state 0x([0-9a-f]+)", recorder.path.read_text(), re.DOTALL)
    assert [int(state, 16) & 0xFF for state in states] == [bits, 0]


@pytest.mark.parametrize("recorder", ["mouse"], indirect=True)
def test_drag_follows_its_path(link: LinkClient, recorder: Recorder) -> None:
    LinkInput(link).drag([(400, 300), (600, 300), (600, 400)], duration_s=0.4, held=["shift"])
    moves = [
        (int(x), int(y))
        for x, y in re.findall(
            r"MotionNotify.*?root:\((\d+),(\d+)\),\s+state 0x101",
            recorder.path.read_text(),
            re.DOTALL,
        )
    ]
    assert (600, 300) in moves
    assert {x for x, y in moves if y > 300} == {600}
    assert {y for x, y in moves if x < 600} == {300}


@pytest.mark.parametrize("recorder", ["keyboard"], indirect=True)
def test_key_is_held_until_its_time_is_over(link: LinkClient, recorder: Recorder) -> None:
    path = recorder.path
    LinkInput(link).key("F5", hold_s=0.3)
    LinkInput(link).key_down("shift")
    LinkInput(link).key("a")
    LinkInput(link).key_up("shift")
    LinkInput(link).key("a")
    text = wait_until(
        lambda: path.read_text() if path.read_text().count("keysym 0x61, a") else "", timeout_s=10
    )
    assert text
    pattern = r"Key(Press|Release) event.*?time (\d+).*?keysym 0x[0-9a-f]+, (\w+)"
    events = re.findall(pattern, text, re.DOTALL)
    times = [int(time) for _, time, name in events if name == "F5"]
    assert 250 <= times[-1] - times[0] < 2000
    names = [name for kind, _, name in events if kind == "Press" and name != "F5"]
    assert names == ["Shift_L", "A", "a"]


def test_key_that_the_layout_lacks_cannot_be_held(link: LinkClient) -> None:
    with pytest.raises(InvalidActionError, match="no key for"):
        LinkInput(link).key_down("Cyrillic_ya")


@pytest.mark.parametrize(
    ("dx", "dy", "buttons"), [(0, 2, [5, 5]), (0, -1, [4]), (1, 0, [7]), (-1, 0, [6])]
)
def test_wheel_turns(
    link: LinkClient, recorder: Recorder, dx: int, dy: int, buttons: list[int]
) -> None:
    LinkInput(link).scroll(500, 400, dx=dx, dy=dy)
    presses = [event for event in recorder.wait(2 * len(buttons)) if event[0] == "Press"]
    assert [event[3] for event in presses] == buttons


def worker_pid(link: LinkClient, name: str) -> int:
    """Return the process of a worker of this probe: the host may have workers of other probes."""
    probe = cast("dict[str, int]", link.call("ping"))["pid"]
    processes = cast("list[dict[str, Any]]", link.call("processes"))
    workers = [
        int(process["pid"]) for process in processes if process["argv"][-2:] == ["--worker", name]
    ]
    return next(pid for pid in workers if parent_of(pid) == probe)


def parent_of(pid: int) -> int:
    with contextlib.suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return 0


def test_killed_helper_is_replaced(link: LinkClient) -> None:
    LinkScreen(link).capture()
    before = worker_pid(link, "display")
    os.kill(before, signal.SIGKILL)
    wait_until(lambda: not os.path.exists(f"/proc/{before}"), timeout_s=20)  # noqa: PTH110
    LinkScreen(link).capture()
    assert worker_pid(link, "display") != before


def test_helpers_run_as_the_user_and_not_as_the_probe(
    link: LinkClient, desktop: DesktopStandIn
) -> None:
    LinkScreen(link).capture()
    processes = cast("list[dict[str, Any]]", link.call("processes"))
    pid = worker_pid(link, "display")
    assert next(process["user"] for process in processes if process["pid"] == pid) == desktop.user


def test_digest_excludes_the_helpers_of_the_probe(link: LinkClient) -> None:
    LinkScreen(link).capture()
    state = cast("dict[str, Any]", link.call("digest"))
    assert not [line for line in state["processes"] if line.startswith("python")]
    assert [line for line in state["processes"] if line.startswith("openbox")]


def test_title_not_reported_by_its_program_is_undecided(link: LinkClient) -> None:
    source = """
class Mark: kind, name, on = "evaluator", "has_window", "desktop"
def has_window(guest, title):
    found = [one for one in guest.windows() if one["program"].endswith("/xev")]
    return bool(found) and (not title or title in [guest.title_of(one) for one in found])
has_window.__mesocosm_mark__ = Mark
"""
    link.call("launch", {"argv": ["xev", "-name", "judged"]})
    window(link, "judged")
    processes = cast("list[dict[str, Any]]", link.call("processes"))
    pid = next(process["pid"] for process in processes if process["argv"][-1:] == ["judged"])
    link.call("bundle", {"digest": "w", "modules": {"checks": source}})
    calls: list[Any] = [
        {"node": title, "name": "has_window", "args": {"title": title}} for title in ("", "judged")
    ]
    wave: Any = {"bundle": "w", "calls": calls, "timeout_s": 5.0}
    by_program, by_title = cast("list[dict[str, Any]]", link.call("evaluate", wave))
    assert by_program == {"node": "", "met": True, "reason": ""}
    assert by_title["met"] is None
    assert "accessibility" in by_title["reason"]
    os.kill(pid, signal.SIGTERM)


def test_terminal_title_is_no_evidence(link: LinkClient) -> None:
    source = """
class Mark: kind, name, on = "evaluator", "has_terminal", "desktop"
def has_terminal(guest, title):
    found = [one for one in guest.windows() if "XTerm" in one["wm_class"]]
    return bool(found) and (not title or guest.title_of(found[0]) == title)
has_terminal.__mesocosm_mark__ = Mark
"""
    link.call("launch", {"argv": ["xterm", "-T", "printed"]})
    pid = window(link, "printed")["pid"]
    link.call("bundle", {"digest": "t", "modules": {"checks": source}})
    calls: list[Any] = [
        {"node": title, "name": "has_terminal", "args": {"title": title}}
        for title in ("", "printed")
    ]
    wave: Any = {"bundle": "t", "calls": calls, "timeout_s": 5.0}
    by_class, by_title = cast("list[dict[str, Any]]", link.call("evaluate", wave))
    assert by_class == {"node": "", "met": True, "reason": ""}
    assert by_title["met"] is None
    assert "terminal" in by_title["reason"]
    os.kill(pid, signal.SIGTERM)


# -- accessibility


@pytest.fixture
def dialog(link: LinkClient, desktop: DesktopStandIn) -> Iterator[int]:
    from foundation.process import find_tool

    if not desktop.has_tree or find_tool("zenity") is None:
        pytest.skip("needs python3-gi, gir1.2-atspi-2.0, at-spi2-core and zenity")
    argv = ["zenity", "--question", "--title=Ask ü ✓", "--text=Plant a tree?", "--ok-label=Do it"]
    started = desktop.start(*argv)
    window(link, "Ask ü ✓")
    yield started.pid
    os.kill(started.pid, signal.SIGCONT)
    started.kill()
    wait_until(
        lambda: not [window for window in windows(link) if window["title"] == "Ask ü ✓"],
        timeout_s=10,
    )


def names(link: LinkClient) -> dict[str, Any]:
    return {element.name: element for element in LinkTree(link).elements()}


def test_tree_holds_what_a_user_sees(link: LinkClient, dialog: int) -> None:
    wait_until(lambda: "Do it" in names(link), timeout_s=20)
    button = names(link)["Do it"]
    assert button.role == "push button"
    assert {"enabled", "focusable", "showing"} <= button.states
    assert 0 <= button.bounds.left < button.bounds.right <= SIZE[0]
    assert "Plant a tree?" in names(link)


def test_center_of_an_element_is_where_to_click(link: LinkClient, dialog: int) -> None:
    wait_until(lambda: "Do it" in names(link), timeout_s=20)
    LinkInput(link).click(*names(link)["Do it"].bounds.center)
    assert wait_until(
        lambda: not [window for window in windows(link) if window["title"] == "Ask ü ✓"],
        timeout_s=10,
    )


def test_frozen_application_costs_only_its_part_of_the_tree(link: LinkClient, dialog: int) -> None:
    wait_until(lambda: "Do it" in names(link), timeout_s=20)
    os.kill(dialog, signal.SIGSTOP)
    assert "Do it" not in names(link)
    os.kill(dialog, signal.SIGCONT)
    assert wait_until(lambda: "Do it" in names(link), timeout_s=20)
