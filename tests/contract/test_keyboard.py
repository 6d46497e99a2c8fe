"""Keys and texts on real X servers with other layouts than that of the United States."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, cast

import pytest

from foundation import process
from foundation.clock import wait_until
from foundation.errors import InvalidActionError
from provisioning.desktop.qemu.keys import QCODES
from provisioning.links.guest_io import LinkInput
from tests.standins.desktop import DesktopStandIn, desktop_on_host
from tests.tiers import STAND_IN

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from provisioning.links.client import LinkClient

pytestmark = [
    STAND_IN,
    pytest.mark.skipif(
        not (process.find_tool("setxkbmap") and process.find_tool("xkbcomp")),
        reason="needs x11-xkb-utils",
    ),
]

LAYOUTS = ("us", "de", "fr", "us,ru")
"""The last one with its second group active."""

CHORDS = {
    ("a",): ("a", ""),
    ("A",): ("A", "s"),
    ("z",): ("z", ""),
    ("/",): ("slash", ""),
    ("plus",): ("plus", ""),
    ("asterisk",): ("asterisk", ""),
    ("@",): ("at", ""),
    ("!",): ("exclam", ""),
    ("question",): ("question", ""),
    (":",): ("colon", ""),
    ("del",): ("Delete", ""),
    ("F13",): ("F13", ""),
    ("é",): ("eacute", ""),
    ("ctrl", "s"): ("s", "c"),
    ("ctrl", "plus"): ("plus", "c"),
    ("shift", "Tab"): ("ISO_Left_Tab", "s"),
}
"""Pressed keys, with the keysym that arrives and the modifiers that must be held: Shift, Control."""


@pytest.fixture(scope="module")
def desktop() -> Iterator[DesktopStandIn]:
    with desktop_on_host() as stand_in:
        yield stand_in


@pytest.fixture(scope="module")
def link(desktop: DesktopStandIn) -> Iterator[LinkClient]:
    client = desktop.connect()
    yield client
    client.close()


@pytest.fixture(params=LAYOUTS)
def layout(desktop: DesktopStandIn, request: pytest.FixtureRequest) -> str:
    set_layout(desktop, request.param)
    return str(request.param)


class Terminal:
    """A terminal that writes what is typed to a file."""

    def __init__(self, desktop: DesktopStandIn, link: LinkClient, path: Path) -> None:
        self.path = path
        script = f"stty -echo; exec cat > {path}"
        desktop.start("xterm", "-u8", "-T", path.name, "-e", "/bin/sh", "-c", script)
        wait_for_window(link, path.name)

    def lines(self, count: int) -> list[str]:
        wait_until(lambda: len(self._lines()) >= count, timeout_s=20)
        return self._lines()

    def _lines(self) -> list[str]:
        return self.path.read_text().splitlines() if self.path.exists() else []


class Keys:
    """A window that records the keys that it gets."""

    def __init__(self, desktop: DesktopStandIn, link: LinkClient, path: Path) -> None:
        self.path = path
        script = f"exec xev -event keyboard -name {path.name} > {path}"
        desktop.start("/bin/sh", "-c", script)
        wait_for_window(link, path.name)

    def pressed(self) -> list[tuple[str, str]]:
        """Return keysyms and modifiers of the keys pressed so far, without modifier keys."""
        pattern = r"KeyPress event.*?state 0x(\w+), keycode \d+ \(keysym \w+, (\w+)\)"
        found = re.findall(pattern, self.path.read_text(), re.DOTALL)
        rows = [(name, int(state, 16)) for state, name in found]
        held = [(name, "s" * (state & 1) + "c" * (state >> 2 & 1)) for name, state in rows]
        return [row for row in held if not row[0].startswith(("Shift", "Control", "ISO_Level3"))]


def wait_for_window(link: LinkClient, title: str) -> None:
    def is_active() -> bool:
        windows = cast("list[dict[str, object]]", link.call("windows"))
        return any(window["title"] == title and window["active"] for window in windows)

    assert wait_until(is_active, timeout_s=60)


def set_layout(desktop: DesktopStandIn, name: str) -> None:
    """Set a layout; if it has several groups, activate the second."""
    several = ["-option", "grp:menu_toggle"] if "," in name else []
    run(desktop, "setxkbmap", "-option", "", "-layout", name, *several)
    if several:
        run(desktop, "xdotool", "key", "ISO_Next_Group")


def keyboard(desktop: DesktopStandIn) -> str:
    """Return everything that the server knows of its keyboard."""
    return run(desktop, "xkbcomp", "-xkb", desktop.display, "-")


def run(desktop: DesktopStandIn, *argv: str) -> str:
    result = process.run(list(argv), env={**os.environ, "DISPLAY": desktop.display})
    assert result.exit_code == 0, result
    return result.text


@pytest.fixture(scope="module")
def terminal(desktop: DesktopStandIn, link: LinkClient) -> Terminal:
    return Terminal(desktop, link, desktop.folder / "terminal")


def test_text_arrives_on_every_layout_and_nothing_stays_bound(
    desktop: DesktopStandIn, link: LinkClient, terminal: Terminal, layout: str
) -> None:
    wait_for_window(link, "terminal")
    before, texts = keyboard(desktop), ["hello/@€", "Zz ~^`' Äß Жж 日本😀", layout]
    count = len(terminal.lines(0))
    for text in texts:
        LinkInput(link).text(f"{text}\n")
    assert terminal.lines(count + len(texts))[count:] == texts
    assert keyboard(desktop) == before


def test_text_arrives_while_caps_lock_is_on(
    desktop: DesktopStandIn, link: LinkClient, terminal: Terminal
) -> None:
    set_layout(desktop, "us")
    count = len(terminal.lines(0))
    LinkInput(link).key("Caps_Lock")
    LinkInput(link).text("Hello, ÄäЖж!\n")
    LinkInput(link).key("Caps_Lock")
    LinkInput(link).text("Hello\n")
    assert terminal.lines(count + 2)[count:] == ["Hello, ÄäЖж!", "Hello"]


def test_more_characters_than_spare_keys_arrive_and_nothing_stays_bound(
    desktop: DesktopStandIn, link: LinkClient, terminal: Terminal
) -> None:
    set_layout(desktop, "us")
    before, count = keyboard(desktop), len(terminal.lines(0))
    text = "".join(map(chr, range(0x4E00, 0x4E00 + 300)))
    LinkInput(link).text(f"{text}\n")
    assert terminal.lines(count + 1)[count:] == [text]
    assert keyboard(desktop) == before


def test_slow_probe_types_a_part_and_says_how_much(
    link: LinkClient, terminal: Terminal, desktop: DesktopStandIn
) -> None:
    set_layout(desktop, "us")
    count = len(terminal.lines(0))
    reply = link.call("input", {"kind": "text", "text": "x" * 200}, timeout_s=0.5)
    typed = cast("dict[str, int]", reply)["typed"]
    assert 0 < typed < 200
    link.call("input", {"kind": "text", "text": "\n"})
    assert terminal.lines(count + 1)[count:] == ["x" * typed]


@pytest.fixture(scope="module")
def recorder(desktop: DesktopStandIn, link: LinkClient, terminal: Terminal) -> Keys:
    del terminal  # whose tests are over
    return Keys(desktop, link, desktop.folder / "keys")


def test_pressed_keys_arrive_on_every_layout_and_nothing_stays_bound(
    desktop: DesktopStandIn, link: LinkClient, recorder: Keys, layout: str
) -> None:
    assert layout
    before, count = keyboard(desktop), len(recorder.pressed())
    for names in CHORDS:
        LinkInput(link).key(*names)
    wait_until(lambda: len(recorder.pressed()) >= count + len(CHORDS), timeout_s=10)
    check(recorder.pressed()[count:])
    assert keyboard(desktop) == before


def check(arrived: list[tuple[str, str]]) -> None:
    assert [name for name, _ in arrived] == [name for name, _ in CHORDS.values()]
    for (_, held), (_, wanted) in zip(arrived, CHORDS.values(), strict=True):
        assert set(wanted) <= set(held)


def test_keys_for_a_vms_keyboard_arrive_on_every_layout_and_nothing_stays_bound(
    desktop: DesktopStandIn, link: LinkClient, recorder: Keys, layout: str
) -> None:
    assert layout
    before, count = keyboard(desktop), len(recorder.pressed())
    hands = LinkInput(link)
    for names in CHORDS:
        prepared = hands.prepare_keys(names, list(QCODES))
        assert set(prepared.codes) <= set(QCODES)
        press(desktop, prepared.codes)
        if prepared.is_bound:
            hands.finish_keys()
    wait_until(lambda: len(recorder.pressed()) >= count + len(CHORDS), timeout_s=10)
    check(recorder.pressed()[count:])
    assert keyboard(desktop) == before


def press(desktop: DesktopStandIn, codes: list[int]) -> None:
    downs = [argument for code in codes for argument in ("keydown", str(code))]
    ups = [argument for code in reversed(codes) for argument in ("keyup", str(code))]
    run(desktop, "xdotool", *downs, *ups)


def test_prepared_key_that_nobody_pressed_is_released_later(
    desktop: DesktopStandIn, link: LinkClient
) -> None:
    set_layout(desktop, "us")
    before = keyboard(desktop)
    assert LinkInput(link).prepare_keys(["ф"], list(QCODES)).is_bound
    assert keyboard(desktop) != before
    assert wait_until(lambda: keyboard(desktop) == before, timeout_s=20)


def test_key_that_was_changed_meanwhile_keeps_its_new_meaning(
    desktop: DesktopStandIn, link: LinkClient
) -> None:
    set_layout(desktop, "us")
    assert LinkInput(link).prepare_keys(["ф"], list(QCODES)).is_bound
    set_layout(desktop, "de")
    changed = keyboard(desktop)
    LinkInput(link).key("a")  # which releases bound keys first
    assert keyboard(desktop) == changed


@pytest.mark.parametrize(
    ("names", "message"), [(["ctrl", "nokey"], "nokey"), (["altgr", "a"], "no key altgr")]
)
def test_key_that_cannot_arrive_is_refused(
    desktop: DesktopStandIn, link: LinkClient, names: list[str], message: str
) -> None:
    set_layout(desktop, "us")
    with pytest.raises(InvalidActionError, match=message):
        LinkInput(link).prepare_keys(names, list(QCODES))


def test_control_character_is_refused_before_anything_is_typed(
    desktop: DesktopStandIn, link: LinkClient, recorder: Keys
) -> None:
    set_layout(desktop, "us")
    count = len(recorder.pressed())
    with pytest.raises(InvalidActionError, match="0007"):
        LinkInput(link).text("x" * 500 + "\a")
    LinkInput(link).key("b")
    wait_until(lambda: len(recorder.pressed()) > count, timeout_s=10)
    assert [name for name, _ in recorder.pressed()[count:]] == ["b"]
