"""Replies of a real X server as bytes, and the state's fingerprint that contains them."""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING

import pytest

from foundation import process
from provisioning.probe.display import raw, windows, xserver
from provisioning.probe.display.raw import RawDisplay
from provisioning.probe.display.selections import Selections
from provisioning.probe.system import digest, proc
from provisioning.probe.system.identity import Identity
from provisioning.probe.system.session import Session
from tests.tiers import STAND_IN
from tests.unit.provisioning.probe.display.test_window_tree import name, started

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from Xlib.display import Display

__all__ = ["name"]

pytestmark = [
    STAND_IN,
    pytest.mark.skipif(process.find_tool("Xvfb") is None, reason="needs Xvfb"),
]


def session(display_name: str) -> Session:
    environment = {"DISPLAY": display_name, "XAUTHORITY": os.devnull}
    return Session(Identity.own(), os.getpid(), 0, environment)


@dataclasses.dataclass
class Desk:
    """A display that another program changes, and that is read as bytes."""

    display: Display
    raw: RawDisplay
    requests: list[bytes]

    def show(self) -> int:
        """Show another window, as a window manager publishes it; return its number."""
        from Xlib import X, Xatom

        root = self.display.screen().root
        window = root.create_window(0, 0, 50, 40, 0, X.CopyFromParent)
        window.set_wm_name("one")
        window.map()
        kind = self.display.get_atom("_NET_CLIENT_LIST_STACKING")
        root.change_property(kind, Xatom.WINDOW, 32, [window.id])
        self.display.sync()
        return int(window.id)

    def prepare(self) -> None:
        selections = Selections(self.display).raw_requests()
        self.requests = [*windows.raw_requests(self.display), *selections]

    def look(self) -> list[bytes]:
        self.raw.send(b"".join(self.requests))
        return self.raw.receive(len(self.requests))


@pytest.fixture
def desk(name: str) -> Iterator[Desk]:
    display = xserver.open_display(name)
    opened = RawDisplay(session(name), timeout_s=10)
    yield Desk(display, opened, [])
    opened.close()
    display.close()


def test_unchanged_display_returns_the_same_bytes(desk: Desk) -> None:
    desk.show()
    desk.prepare()
    assert len(desk.requests) > 9
    before = desk.look()
    assert before == desk.look()
    assert len(set(before)) > 3


def test_every_window_change_changes_the_bytes(desk: Desk) -> None:
    window = desk.display.create_resource_object("window", desk.show())
    desk.prepare()
    before = desk.look()
    for change in (
        lambda: window.set_wm_name("two"),
        lambda: window.configure(x=7),
        lambda: window.configure(width=70),
        lambda: window.set_wm_class("some", "Some"),
        desk.show,
        window.destroy,
    ):
        change()
        desk.display.sync()
        after = desk.look()
        assert after != before
        before = after


def test_interleaved_events_are_dropped(desk: Desk) -> None:
    desk.prepare()
    before = desk.look()
    # Every client is notified of a changed keyboard, with or without a subscription.
    mapping = desk.display.get_keyboard_mapping(8, 1)
    for _ in range(50):
        desk.display.change_keyboard_mapping(8, [mapping[0]])
    desk.display.sync()
    assert desk.look() == before


def test_owned_clipboard_cannot_be_compared_as_bytes(desk: Desk) -> None:
    from Xlib import X

    selections = Selections(desk.display)
    assert len(selections.raw_requests()) == 2
    owner = desk.display.screen().root.create_window(0, 0, 1, 1, 0, X.CopyFromParent)
    owner.set_selection_owner(desk.display.get_atom("CLIPBOARD"), X.CurrentTime)
    desk.display.sync()
    assert selections.raw_requests() == []


def test_closed_or_overlong_connection_is_an_error(
    name: str,
    desk: Desk,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    desk.show()
    desk.prepare()
    monkeypatch.setattr(raw, "MAX_BYTES", 100)
    with pytest.raises(OSError, match="more than 100 bytes"):
        desk.look()
    desk.raw.close()
    with pytest.raises(OSError, match=r"closed|descriptor"):
        desk.look()
    with pytest.raises(OSError, match=r"refused|No such file"):
        RawDisplay(session(":99999"), timeout_s=1)


def test_display_cookie_is_sent_and_required(tmp_path: Path) -> None:
    cookie = tmp_path / "cookie"
    entry = (b"\1\0", len(os.uname().nodename.encode()).to_bytes(2, "big"))
    data = b"".join(
        (*entry, os.uname().nodename.encode(), b"\0\0", b"\0\x12MIT-MAGIC-COOKIE-1", b"\0\x10")
    )
    cookie.write_bytes(data + b"0123456789abcdef")
    argv = ("Xvfb", "-displayfd", "1", "-screen", "0", "80x60x24", "-auth", str(cookie))
    with started(*argv) as child:
        assert child.stdout is not None
        display_name = f":{child.stdout.readline().decode().strip()}"
        own = session(display_name)
        RawDisplay(
            own._replace(environment={**own.environment, "XAUTHORITY": str(cookie)}), timeout_s=10
        ).close()
        if os.getuid() != 0:
            with pytest.raises(ConnectionRefusedError, match="refuses"):
                RawDisplay(own, timeout_s=10)


def test_every_part_of_the_state_is_in_its_fingerprint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    identity = Identity.own()._replace(home=str(tmp_path))
    rows = proc.raw_rows

    def own_rows(uid: int) -> list[bytes]:
        """Return only this test's process: others of the user come and go."""
        return [row for row in rows(uid) if b"300.125" in row]

    monkeypatch.setattr(proc, "raw_rows", own_rows)
    shown = [b"reply"]

    def take() -> str:
        return digest.fingerprint(identity, lambda: shown)

    seen = [take()]
    assert take() == seen[0]
    assert len(seen[0]) == 32
    (tmp_path / "file").write_text("x")
    seen.append(take())
    settings = tmp_path / ".config/dconf/user"
    settings.parent.mkdir(parents=True)
    settings.write_bytes(b"one")
    os.utime(settings, ns=(1, 1))
    seen.append(take())
    settings.write_bytes(b"two")
    os.utime(settings, ns=(1, 1))
    seen.append(take())
    shown[:] = [b"repl", b"y"]
    seen.append(take())
    child = process.start(["sleep", "300.125"])
    try:
        seen.append(take())
    finally:
        process.kill_group(child)
        child.communicate()
    assert len(set(seen)) == len(seen)
