"""Tests of the probe's clipboard reports with different owners, on a minimal real desktop."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from provisioning.reset.digests import take_digest
from tests.standins.clipboard_owner import ClipboardOwner, ReplyMode
from tests.standins.desktop import DesktopStandIn, desktop_on_host
from tests.tiers import STAND_IN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from provisioning.links.client import LinkClient

# python-xlib leaves the cookie file to the garbage collector.
pytestmark = [
    STAND_IN,
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

NAMES = ("CLIPBOARD", "PRIMARY")


@pytest.fixture(scope="module")
def desktop() -> Iterator[DesktopStandIn]:
    with desktop_on_host() as stand_in:
        yield stand_in


@pytest.fixture(scope="module")
def link(desktop: DesktopStandIn) -> Iterator[LinkClient]:
    client = desktop.connect()
    yield client
    client.close()


@pytest.fixture(autouse=True)
def _no_cookie(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XAUTHORITY", "/dev/null")


def test_unowned_clipboard_is_empty(link: LinkClient) -> None:
    selections = take_digest(link).selections
    assert sorted(selections) == sorted(NAMES)
    assert not any(selection.owned or selection.trouble for selection in selections.values())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("reply_mode", [ReplyMode.WELL, ReplyMode.IN_PIECES])
@pytest.mark.parametrize("text", ["", "one ü 你好", "x" * 9999], ids=["empty", "short", "long"])
def test_text_is_reported_by_its_digest(
    link: LinkClient, desktop: DesktopStandIn, name: str, reply_mode: ReplyMode, text: str
) -> None:
    data = text.encode()
    with ClipboardOwner(desktop.display, name, data, reply_mode):
        selections = take_digest(link).selections
    assert selections[name].text == hashlib.sha256(data).hexdigest()
    assert selections[name].targets == ["TARGETS", "UTF8_STRING"]
    (other,) = set(NAMES) - {name}
    assert not selections[other].owned


def test_unresponsive_owner_is_reported_and_blocks_nothing_else(
    link: LinkClient, desktop: DesktopStandIn
) -> None:
    with (
        ClipboardOwner(desktop.display, "CLIPBOARD", b"x", ReplyMode.NEVER),
        ClipboardOwner(desktop.display, "PRIMARY", b"seen"),
    ):
        digest = take_digest(link)
    assert digest.unseen == ""
    assert digest.selections["CLIPBOARD"].trouble == "its owner does not answer"
    assert digest.selections["PRIMARY"].text == hashlib.sha256(b"seen").hexdigest()
    assert not take_digest(link).selections["CLIPBOARD"].trouble


def test_refusing_owner_still_counts_as_owner(link: LinkClient, desktop: DesktopStandIn) -> None:
    empty = take_digest(link)
    with ClipboardOwner(desktop.display, "PRIMARY", b"x", ReplyMode.REFUSES):
        (line,) = empty.differences(take_digest(link))
    assert line == "clipboard PRIMARY: nothing -> no text, as nothing"


def test_missing_display_is_reported(link: LinkClient, desktop: DesktopStandIn) -> None:
    """This test must be the last in this file, because it ends the desktop."""
    before = take_digest(link)
    desktop.close()
    after = take_digest(link)
    assert after.unseen
    assert any("could not be read" in line for line in before.differences(after))
