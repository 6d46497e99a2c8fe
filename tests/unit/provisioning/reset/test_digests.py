from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from foundation.errors import LinkProtocolError
from provisioning.probe.system import digest
from provisioning.protocols import StateKind
from provisioning.reset.digests import SelectionState, read_digest
from tests.standins.states import a_digest, a_selection, a_window

if TYPE_CHECKING:
    from provisioning.reset.windows import WindowState

DESKTOP = a_window("Desktop", kind="desktop", geometry=[0, 0, 1280, 800])
NOTES = a_window("Notes", active=True)
MAIL = a_window("Mail", wm_class=["mail", "Mail"])
NOTHING = SelectionState(owned=False, targets=[], text="", trouble="")


def changed(window: WindowState, **fields: Any) -> WindowState:  # noqa: ANN401 - any field
    return window.model_copy(update=fields)


@pytest.mark.parametrize(
    ("after", "lines"),
    [
        ([DESKTOP, MAIL, NOTES], []),
        ([DESKTOP, MAIL, NOTES, a_window("Alert", kind="dialog")], ["window new: dialog 'Alert' (gedit.Gedit)"]),
        ([DESKTOP, NOTES], ["window gone: normal 'Mail' (mail.Mail)"]),
        (
            [DESKTOP, changed(MAIL, title="Mail (1)"), NOTES],
            ["window retitled: normal 'Mail' (mail.Mail) -> 'Mail (1)'"],
        ),
        (
            [DESKTOP, changed(MAIL, geometry=[120, 50, 400, 301]), NOTES],
            ["window moved: normal 'Mail' (mail.Mail): 400x300 at 100,50 -> 400x301 at 120,50"],
        ),
        (
            [DESKTOP, changed(MAIL, states=["hidden"]), NOTES],
            ["window states: normal 'Mail' (mail.Mail): none -> hidden"],
        ),
        (
            [DESKTOP, NOTES, MAIL],
            ["windows restacked, bottom to top: 'Desktop', 'Mail', 'Notes' -> 'Desktop', 'Notes', 'Mail'"],
        ),
        (
            [DESKTOP, changed(MAIL, active=True), changed(NOTES, active=False)],
            ["active window: normal 'Notes' (gedit.Gedit) -> normal 'Mail' (mail.Mail)"],
        ),
        (
            [DESKTOP, MAIL, changed(NOTES, active=False)],
            ["active window: normal 'Notes' (gedit.Gedit) -> none"],
        ),
    ],
)  # fmt: skip
def test_window_changes_are_described_in_one_line(
    after: list[WindowState], lines: list[str]
) -> None:
    before = a_digest(windows=[DESKTOP, MAIL, NOTES])
    assert list(before.differences(a_digest(windows=after))) == lines


def test_identical_windows_are_counted() -> None:
    before, after = a_digest(windows=[MAIL, MAIL]), a_digest(windows=[MAIL, MAIL, MAIL])
    assert before.differences(before) == ()
    assert before.differences(after) == ("window new: normal 'Mail' (mail.Mail)",)


def test_moved_one_of_two_windows_is_named() -> None:
    left, right = a_window("One", geometry=[0, 0, 9, 9]), a_window("Two", geometry=[50, 0, 9, 9])
    moved = changed(right, geometry=[60, 0, 9, 9])
    (line,) = a_digest(windows=[left, right]).differences(a_digest(windows=[left, moved]))
    assert line.startswith("window moved: normal 'Two'")


@pytest.mark.parametrize(
    ("before", "after", "pattern"),
    [
        (NOTHING, a_selection(), "nothing -> text ffffffffffff, as TARGETS, UTF8_STRING"),
        (a_selection(), NOTHING, "-> nothing"),
        (a_selection(), a_selection(text="0" * 64), "text ffffffffffff.* -> text 000000000000"),
        (a_selection(), a_selection(text=""), "-> no text"),
        (NOTHING, a_selection(trouble="its owner does not answer"), "does not answer"),
    ],
)
def test_clipboard_content_is_compared(
    before: SelectionState, after: SelectionState, pattern: str
) -> None:
    first, other = a_digest(selections={"PRIMARY": before}), a_digest(selections={"PRIMARY": after})
    (line,) = first.differences(other)
    assert line.startswith("clipboard PRIMARY: ")
    assert re.search(pattern, line)


def test_clipboard_of_an_unresponsive_owner_always_differs() -> None:
    silent = a_digest(selections={"CLIPBOARD": a_selection(trouble="its owner does not answer")})
    assert silent.differences(silent) == ("clipboard CLIPBOARD: its owner does not answer",)


def test_unread_display_always_differs() -> None:
    blind = a_digest(unseen="timeout: saved did not end within 3 s")
    for first, other in ((blind, blind), (blind, a_digest()), (a_digest(), blind)):
        (line,) = first.differences(other)
        assert line.startswith("windows and clipboards could not be read: timeout")


def test_probe_and_host_use_the_same_format() -> None:
    whole = a_digest().model_dump(mode="json")
    assert read_digest({**whole, "format": digest.FORMAT}) == a_digest()


@pytest.mark.parametrize("lost", ["format", "windows", "selections", "unseen"])
def test_digest_of_an_older_probe_is_rejected(lost: str) -> None:
    whole = a_digest().model_dump(mode="json")
    del whole[lost]
    with pytest.raises(LinkProtocolError, match="invalid state digest"):
        read_digest(whole)


@pytest.mark.parametrize("format_", [1, 2, 4, "3"])
def test_other_format_is_rejected(format_: object) -> None:
    whole = {**a_digest().model_dump(mode="json"), "format": format_}
    with pytest.raises(LinkProtocolError, match="invalid state digest"):
        read_digest(whole)


def test_settings_are_compared_key_by_key() -> None:
    before = a_digest().model_copy(update={"settings": {"/a/kept": "1", "/a/gone": "2"}})
    after = a_digest().model_copy(update={"settings": {"/a/kept": "3"}})
    assert before.differences(after) == ("setting /a/gone differs", "setting /a/kept differs")


def test_summary_has_settings_instead_of_their_database() -> None:
    files = {".config/dconf/user": "100 1 600", "note": "3 2 644"}
    whole = a_digest(files=files, processes=["a /a", "b /b", "a /a"])
    summary = whole.model_copy(update={"settings": {"/a/key": "1"}}).summary()
    assert summary[StateKind.FILE] == {"~/note": "3 2 644"}
    assert summary[StateKind.SETTING] == {"/a/key": "1"}
    assert summary[StateKind.PROCESS] == {"a /a": "2", "b /b": "1"}
