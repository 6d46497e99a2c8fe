"""Cases of the evaluators of windows and the clipboard."""

from __future__ import annotations

import os
from pathlib import Path

from evaluators.desktop import clipboard, windows
from evaluators.testing.case import (
    Case,
    CaseKind,
    CaseTable,
    State,
    another_way,
    corrupt,
    empty,
    forged,
    hostile,
    missing,
    near_miss,
    negative,
    nothing,
    positive,
)
from evaluators.testing.desktop import DesktopFixture

NO_FORM = "the window manager's reply has only one format; the probe rejects all others"
NO_TEXT = "Error: target UTF8_STRING not available"


def _clip(out: str | bytes, code: int = 0, err: str = "") -> State:
    """Make the clipboard owner offer UTF-8 text."""
    return _offers({"UTF8_STRING": out}, code=code, err=err)


def _offers(forms: dict[str, str | bytes], *, code: int = 0, err: str = "") -> State:
    """Make the clipboard owner offer some formats, and xclip end with an exit code."""

    def state(b: DesktopFixture) -> None:
        b.prints([*clipboard.XCLIP, "TARGETS"], "\n".join(["TARGETS", *forms]) + "\n")
        for form, out in forms.items():
            b.prints([*clipboard.XCLIP, form], out, code, err)

    return state


def _selected(text: str, clip: State) -> State:
    """Select a text without copying it."""
    ask = ["/usr/bin/xclip", "-selection", "primary", "-out", "-target"]
    return lambda b: (
        clip(b),
        b.prints([*ask, "UTF8_STRING"], text),
        b.prints([*ask, "TARGETS"], "TARGETS\nUTF8_STRING\n"),
    )


_FURTHER = ("text/plain;charset=utf-8", "STRING", "text/plain", "TEXT", "COMPOUND_TEXT")


def _silent_with(form: str, text: str) -> State:
    """Make the owner offer UTF-8 text and another text without a list of targets."""

    def state(b: DesktopFixture) -> None:
        _silent(b)
        b.prints([*clipboard.XCLIP, form], text)

    return state


def _no_owner(b: DesktopFixture) -> None:
    """Leave the clipboard without an owner."""
    for form in ("TARGETS", "UTF8_STRING"):
        b.prints([*clipboard.XCLIP, form], "", 1, f"Error: target {form} not available\n")


def _silent(b: DesktopFixture) -> None:
    """Make the owner offer UTF-8 text without a list of targets."""
    for form in ("TARGETS", *_FURTHER):
        b.prints([*clipboard.XCLIP, form], "", 1, f"Error: target {form} not available\n")
    b.prints([*clipboard.XCLIP, "UTF8_STRING"], "044")


def _show(*rows: tuple[str, str, bool]) -> State:
    return lambda b: [b.show(app, title, active=active) for app, title, active in rows]


def _place(*geometry: int) -> State:
    return lambda b: b.show("Gedit", "x", geometry=geometry)


def _renamed(*names: str, program: str = "/bin/sh") -> State:
    """Open a window of a program that every system has, with a forged class."""
    real = os.path.realpath(program)

    def state(b: DesktopFixture) -> None:
        for name in names:
            b.show(name, "notes")
        for window in b.windows or ():
            window["program"] = real

    return state


# A plausible name of such a program: its own name.
_SHELL = Path(os.path.realpath("/bin/sh")).name


def _bears(*names: str, app: str = "Gedit", title: str = "notes", active: bool = False) -> State:
    """Open a window with plausible names of its program, but not with those of the application."""

    def state(b: DesktopFixture) -> None:
        b.show(app, title, active=active)
        (b.windows or [])[-1].update(wm_class=list(names), program="/home/user/fake")

    return state


def _unseen(*, geometry: tuple[int, int, int, int] = (0, 0, 640, 480)) -> State:
    """Open a window in front of which nothing can be seen."""
    return lambda b: b.show("Gedit", "notes", active=True, geometry=geometry, visible=False)


def _both(*states: State) -> State:
    return lambda b: [state(b) for state in states]


def _no_windows(b: DesktopFixture) -> None:
    b.windows = []


def _common(title: bool) -> tuple[Case, ...]:
    """Return the cases that are common to all evaluators of a window by class."""
    args: dict[str, str] = {"title_contains": "notes"} if title else {}
    return (
        negative("different application", _show(("Evince", "notes", True)), app="Gedit", **args),
        near_miss("part of the class", _show(("Gedit-plugin", "notes", True)), app="Gedit", **args),
        hostile("class only in the title", _show(("X", "Gedit notes", True)), app="Gedit", **args),
        missing("no session", nothing, app="Gedit", **args).expect_error(),
        empty("no windows", _no_windows, app="Gedit", **args),
    )


WINDOWS = (
    CaseTable(
        windows.window_in_front,
        DesktopFixture,
        (
            forged("nothing of it can be seen", _unseen(), app="Gedit"),
            positive(
                "matching class",
                _show(("X", "x", False), ("Gedit", "notes.txt", True)),
                app="gedit",
            ),
            positive(
                "matching title and class",
                _show(("Gedit", "notes.txt", True)),
                app="Gedit",
                title_contains="notes",
            ),
            *_common(title=True),
            near_miss(
                "behind a different window",
                _show(("Gedit", "notes", False), ("X", "x", True)),
                app="Gedit",
                title_contains="notes",
            ),
            near_miss(
                "title in a different letter case",
                _show(("Gedit", "Notes", True)),
                app="Gedit",
                title_contains="notes",
            ),
            near_miss(
                "different window of the application",
                _show(("Gedit", "notes", False), ("Gedit", "x", True)),
                app="Gedit",
                title_contains="notes",
            ),
            forged(
                "different program with a forged class", _bears("", "", active=True), app="Gedit"
            ),
            forged(
                "different program in front with a forged class and title",
                _both(_show(("Gedit", "notes", False)), _bears("", "", active=True)),
                app="Gedit",
                title_contains="notes",
            ),
            forged(
                "letter from a different script in the title",
                _show(("Gedit", "n\u043etes", True)),
                app="Gedit",
                title_contains="notes",
            ),
            another_way(
                "identified by its instance",
                _bears("gedit", "Org.gnome.gedit", active=True),
                app="Gedit",
                title_contains="notes",
            ),
            another_way(
                "second window of the application",
                _show(("Gedit", "x", False), ("Gedit", "notes", True)),
                app="Gedit",
                title_contains="notes",
            ),
            hostile("empty expected application", _bears("", "", active=True), app=""),
            hostile(
                "control characters",
                _show(("Gedit", "no\0tes\n", True)),
                app="Gedit",
                title_contains="notes",
            ),
        ),
        inapplicable={CaseKind.CORRUPT: NO_FORM},
        equivalent={
            "*: args.app: swap case": "the letter case of the class is ignored",
            "matching class: window 0: *": "other windows are ignored",
            "matching class: window 1: other title": "the title is ignored",
            "matching title and class: args.title_contains: *": "part of the title, or any title",
            "*: window *: move": "the position is ignored",
            "*: window *: resize": "the size is ignored",
        },
    ),
    CaseTable(
        windows.window_open,
        DesktopFixture,
        (
            another_way(
                "invisible character in the title",
                _show(("Gedit", "no\u200btes", True)),
                app="Gedit",
                title_contains="notes",
            ),
            forged("nothing of it can be seen", _unseen(), app="Gedit"),
            positive(
                "matching class, different instance",
                lambda b: (b.show("Gedit", "x"), b.windows[0].update(wm_class=["main", "Gedit"])),
                app="gedit",
            ),
            positive(
                "matching class",
                _show(("Gedit", "notes.txt", False), ("X", "x", True)),
                app="GEDIT",
            ),
            positive(
                "matching title and class",
                _show(("Gedit", "notes.txt", True)),
                app="Gedit",
                title_contains="notes",
            ),
            *_common(title=True),
            near_miss(
                "title in a different letter case",
                _show(("Gedit", "Notes", True)),
                app="Gedit",
                title_contains="notes",
            ),
            near_miss(
                "title on a window of a different application",
                _show(("Gedit", "x", True), ("X", "notes", False)),
                app="Gedit",
                title_contains="notes",
            ),
            forged(
                "different program with a forged class", _bears("", "", active=True), app="Gedit"
            ),
            forged(
                "title on a different program with a forged class",
                _both(_show(("Gedit", "x", True)), _bears("", "")),
                app="Gedit",
                title_contains="notes",
            ),
            forged(
                "letter from a different script in the title",
                _show(("Gedit", "n\u043etes", True)),
                app="Gedit",
                title_contains="notes",
            ),
            another_way(
                "behind other windows",
                _show(("Gedit", "notes", False), ("X", "x", True)),
                app="Gedit",
            ),
            another_way(
                "next to a different program with a forged class",
                _both(_bears("", ""), _show(("Gedit", "my notes.txt", False))),
                app="Gedit",
                title_contains="notes",
            ),
        ),
        inapplicable={CaseKind.CORRUPT: NO_FORM},
        equivalent={
            "*: args.app: swap case": "the letter case of the class is ignored",
            "matching class: window 1: *": "other windows are ignored",
            "matching class*: window 0: other title": "the title is ignored",
            "matching title and class: args.title_contains: *": "part of the title, or any title",
            "*: window *: move": "the position is ignored",
            "*: window *: resize": "the size is ignored",
            "*: window *: front": "the stacking order is ignored",
        },
    ),
    CaseTable(
        windows.window_closed,
        DesktopFixture,
        (
            forged(
                "invisible character in the title",
                _show(("Gedit", "no\u200btes", True)),
                app="Gedit",
                title_contains="notes",
            ),
            forged("nothing of it can be seen", _unseen(), app="Gedit"),
            positive(
                "window of a different application", _show(("Evince", "notes", True)), app="Gedit"
            ),
            positive(
                "different title",
                _show(("Gedit", "todo", True)),
                app="Gedit",
                title_contains="notes",
            ),
            negative("window open", _show(("Gedit", "notes", True)), app="Gedit"),
            near_miss(
                "open behind a different window",
                _show(("Gedit", "notes", False), ("X", "x", True)),
                app="gedit",
                title_contains="note",
            ),
            missing("no session", nothing, app="Gedit").expect_error(),
            empty("no windows", _no_windows, app="Gedit").expect_met(),
            hostile(
                "part of the class", _show(("Gedit-plugin", "x", True)), app="Gedit"
            ).expect_met(),
            hostile("forged class on its window", _renamed("Other"), app=_SHELL),
            hostile(
                "forged class on its window, with a title",
                _renamed("Other"),
                app=_SHELL,
                title_contains="note",
            ),
            forged("class removed from its window", _renamed(""), app=_SHELL),
            forged("only the title changed", _show(("Gedit", "other", False)), app="Gedit"),
            forged(
                "only moved behind other windows",
                _show(("Gedit", "x", False), ("X", "y", True)),
                app="Gedit",
            ),
            another_way(
                "different program with a forged class is open", _bears("", ""), app="Gedit"
            ),
            another_way(
                "one of two windows",
                _show(("Gedit", "todo", False), ("X", "notes", True)),
                app="Gedit",
                title_contains="notes",
            ),
        ),
        inapplicable={CaseKind.CORRUPT: NO_FORM},
        equivalent={
            "*: args.app: *": "no such window is open either",
            "*: window *": "the window is not one of the expected ones",
            "different title: args.title_contains: [!e]*": "no window has that title either",
        },
    ),
    CaseTable(
        windows.window_title_equals,
        DesktopFixture,
        (
            forged("nothing of it can be seen", _unseen(), app="Gedit", title="notes"),
            positive(
                "matching title", _show(("Gedit", "notes", False)), app="Gedit", title="notes"
            ),
            negative(
                "different application",
                _show(("Evince", "notes", True)),
                app="Gedit",
                title="notes",
            ),
            near_miss(
                "additional text in the title",
                _show(("Gedit", "notes.txt", True)),
                app="Gedit",
                title="notes",
            ),
            near_miss(
                "part of the class", _show(("Gedit2", "notes", True)), app="Gedit", title="notes"
            ),
            missing("no session", nothing, app="Gedit", title="notes").expect_error(),
            empty("no title", _show(("Gedit", "", True)), app="Gedit", title="notes"),
            hostile(
                "title that looks the same in another window",
                _show(("Gedit", "notes\u200b", True), ("Gedit", "notes", True)),
                app="Gedit",
                title="notes",
            ),
            another_way(
                "invisible space in the title",
                _show(("Gedit", "notes\u200b", True)),
                app="Gedit",
                title="notes",
            ),
            forged(
                "different program with a forged class and title",
                _bears("", ""),
                app="Gedit",
                title="notes",
            ),
            forged(
                "letter from a different script",
                _show(("Gedit", "n\u043etes", True)),
                app="Gedit",
                title="notes",
            ),
            another_way(
                "identified by its instance",
                _bears("gedit", "Org.gnome.gedit"),
                app="Gedit",
                title="notes",
            ),
            another_way(
                "one of two windows",
                _show(("Gedit", "x", True), ("Gedit", "notes", False)),
                app="Gedit",
                title="notes",
            ),
        ),
        inapplicable={CaseKind.CORRUPT: NO_FORM},
        equivalent={
            "*: args.app: swap case": "the letter case of the class is ignored",
            "*: window *: move": "the position is ignored",
            "*: window *: resize": "the size is ignored",
            "*: window *: front": "the stacking order is ignored",
        },
    ),
    CaseTable(
        windows.window_count,
        DesktopFixture,
        (
            *(
                forged(
                    f"nothing can be seen of one of two, {count} expected",
                    _both(_show(("Gedit", "a", False)), _unseen()),
                    app="Gedit",
                    count=count,
                ).expect_error()
                for count in (1, 2)
            ),
            positive(
                "two windows",
                _show(("Gedit", "a", False), ("Gedit", "b", True), ("X", "x", False)),
                app="gedit",
                count=2,
            ),
            negative(
                "no windows of the application", _show(("X", "x", False)), app="Gedit", count=2
            ),
            near_miss(
                "one additional window", _show(*[("Gedit", "a", False)] * 3), app="Gedit", count=2
            ),
            near_miss(
                "one window of a different application",
                _show(("Gedit", "a", False), ("Gedit2", "b", True)),
                app="Gedit",
                count=2,
            ),
            missing("no session", nothing, app="Gedit", count=0).expect_error(),
            empty("no windows, and none expected", _no_windows, app="Gedit", count=0).expect_met(),
            hostile(
                "forged class on one window", _renamed(_SHELL, "X"), app=_SHELL, count=1
            ).expect_error(),
            hostile(
                "class only in the titles",
                _show(("X", "Gedit", False), ("X", "gedit", True)),
                app="Gedit",
                count=2,
            ),
            forged(
                "one window of a different program with a forged class",
                _both(_show(("Gedit", "a", True)), _bears("", "")),
                app="Gedit",
                count=2,
            ),
            forged(
                "two windows of a different program",
                _both(_bears("", ""), _bears("", "")),
                app="Gedit",
                count=2,
            ),
            another_way(
                "identified by their instance",
                _both(_bears("gedit", "Org.gnome.gedit"), _bears("gedit", "Org.gnome.gedit")),
                app="Gedit",
                count=2,
            ),
            another_way(
                "with the same title",
                _show(("Gedit", "a", False), ("gedit", "a", True)),
                app="Gedit",
                count=2,
            ),
            another_way(
                "next to a different program with a forged class",
                _both(_show(("Gedit", "a", True)), _bears("", "")),
                app="Gedit",
                count=1,
            ),
        ),
        inapplicable={CaseKind.CORRUPT: NO_FORM},
        equivalent={
            "*: args.app: swap case": "the letter case of the class is ignored",
            "*: window *: [!c]*": "only the class is compared, or the window is of a different application",
            "*: window 2: *": "a window of a different application",
        },
    ),
    CaseTable(
        windows.window_at,
        DesktopFixture,
        (
            forged(
                "nothing of it can be seen",
                _unseen(geometry=(0, 0, 640, 800)),
                app="Gedit",
                geometry=[0, 0, 640, 800],
            ),
            positive(
                "at the expected position",
                _place(3, 37, 640, 760),
                app="Gedit",
                geometry=[0, 0, 640, 800],
            ),
            positive(
                "exactly at the tolerance",
                _place(10, 0, 640, 800),
                app="Gedit",
                geometry=[0, 0, 640, 800],
                tolerance_px=10,
            ),
            negative(
                "different position",
                _place(500, 300, 200, 100),
                app="Gedit",
                geometry=[0, 0, 640, 800],
            ),
            near_miss(
                "too far right", _place(41, 0, 640, 800), app="Gedit", geometry=[0, 0, 640, 800]
            ),
            near_miss("too low", _place(0, 41, 640, 800), app="Gedit", geometry=[0, 0, 640, 800]),
            near_miss("too narrow", _place(0, 0, 599, 800), app="Gedit", geometry=[0, 0, 640, 800]),
            near_miss("too tall", _place(0, 0, 640, 841), app="Gedit", geometry=[0, 0, 640, 800]),
            near_miss(
                "window of a different application",
                lambda b: b.show("X", "x", geometry=(0, 0, 640, 800)),
                app="Gedit",
                geometry=[0, 0, 640, 800],
            ),
            corrupt(
                "three numbers", _place(0, 0, 640, 800), app="Gedit", geometry=[0, 0, 640]
            ).expect_error(),
            missing("no session", nothing, app="Gedit", geometry=[0, 0, 640, 800]).expect_error(),
            empty("no windows", _no_windows, app="Gedit", geometry=[0, 0, 640, 800]),
            forged(
                "different program with a forged class",
                lambda b: (
                    b.show("Gedit", "x", geometry=(0, 0, 640, 800)),
                    b.windows[0].update(wm_class=["", ""]),
                ),
                app="Gedit",
                geometry=[0, 0, 640, 800],
            ),
            forged(
                "position of one window and size of another one",
                _both(_place(0, 0, 200, 100), _place(500, 300, 640, 800)),
                app="Gedit",
                geometry=[0, 0, 640, 800],
            ),
            forged(
                "off the screen by its width",
                _place(-640, 0, 640, 800),
                app="Gedit",
                geometry=[0, 0, 640, 800],
            ),
            another_way(
                "below a panel, with a frame",
                _place(4, 33, 632, 763),
                app="Gedit",
                geometry=[0, 0, 640, 800],
            ),
            another_way(
                "one of two windows",
                _both(_place(500, 300, 200, 100), _place(0, 0, 640, 800)),
                app="Gedit",
                geometry=[0, 0, 640, 800],
            ),
            hostile(
                "negative size",
                _place(-640, -800, -640, -800),
                app="Gedit",
                geometry=[640, 800, 640, 800],
            ),
        ),
        equivalent={
            "*: args.app: swap case": "the letter case of the class is ignored",
            "*: args.tolerance_px: more": "also within the tolerance",
            "*: window *: other title": "the title is ignored",
            "*: window *: front": "the stacking order is ignored",
        },
    ),
)

CLIPBOARD = (
    CaseTable(
        clipboard.clipboard_equals,
        DesktopFixture,
        (
            positive("text", _clip("044 ✓\n"), text="044 ✓"),
            positive("surrounding white space", _clip("x"), text=" x\n"),
            negative("different text", _clip("hello"), text="044"),
            near_miss("additional text", _clip("0441"), text="044"),
            near_miss("different letter case", _clip("Ann"), text="ann"),
            corrupt("not UTF-8", _clip(b"044\xff"), text="044"),
            corrupt(
                "no display", _clip("", 1, "Error: Can't open display: (null)"), text="044"
            ).expect_error(),
            missing("xclip missing", nothing, text="044").expect_error(),
            empty("no text format", _clip("", 1, NO_TEXT), text="044"),
            empty("empty expected text", _clip(""), text=" ").expect_error(),
            hostile("control characters", _clip("044\0"), text="044"),
            hostile("output with an error", _clip("044", 1, NO_TEXT), text="044"),
            hostile(
                "xclip killed by a signal", _clip("044", -9, NO_TEXT), text="044"
            ).expect_error(),
            empty("no owner", _no_owner, text="044"),
            forged("selected instead of copied", _selected("044", _clip("43")), text="044"),
            forged("only selected, empty clipboard", _selected("044", _no_owner), text="044"),
            forged("invisible character", _clip("0\u200b44"), text="044"),
            forged("digits from a different script", _clip("\u0660\u0664\u0664"), text="044"),
            forged("only in the HTML format", _offers({"text/html": "044"}), text="044"),
            forged(
                "copied file with the text as name",
                _offers(
                    {"x-special/gnome-copied-files": "copy\nfile:///044", "UTF8_STRING": "044"}
                ),
                text="044",
            ),
            another_way(
                "Latin-1 text of an old program", _offers({"STRING": b"M\xfcll"}), text="Müll"
            ),
            another_way(
                "address of a link",
                _offers({"text/uri-list": "http://a.test/\r\n", "UTF8_STRING": "http://a.test/"}),
                text="http://a.test/",
            ),
            another_way(
                "text format of a toolkit",
                _offers({"text/plain;charset=utf-8": "Müll"}),
                text="Müll",
            ),
            another_way(
                "several formats, one of them invalid",
                _offers({"STRING": b"M?ll", "text/html": "<b>x", "UTF8_STRING": "Müll"}),
                text="Müll",
            ),
            another_way("owner without a list of targets", _silent, text="044"),
            *(
                forged(
                    f"a different text as {form}",
                    _offers({"UTF8_STRING": "044", form: "043"}),
                    text="044",
                )
                for form in _FURTHER
            ),
            forged(
                "a different text without a list of targets",
                _silent_with("text/plain", "043"),
                text="044",
            ),
            forged(
                "different letters as STRING",
                _offers({"UTF8_STRING": "044 ✓", "STRING": b"043 ?"}),
                text="044 ✓",
            ),
            *(
                another_way(
                    f"with {old!r} as STRING",
                    _offers(
                        {"UTF8_STRING": "Müll ✓\n", "STRING": old, "TEXT": b"?", "INTEGER": b"1"}
                    ),
                    text="Müll ✓",
                )
                for old in (b"M\xfcll ?", b"M\xfcll \\u2713", b"M?ll ?\r\n", b"Mll", "Müll ✓\n")
            ),
            another_way(
                "with CRLF in UTF-8 as text/plain",
                _offers({"UTF8_STRING": "Müll\n✓", "text/plain": "Müll\r\n✓"}),
                text="Müll\n✓",
            ),
            another_way(
                "in all formats of a toolkit",
                _offers(dict.fromkeys(("UTF8_STRING", *_FURTHER), "044\n")),
                text="044",
            ),
            another_way("CRLF line ends", _clip("a\r\nb\r\n"), text="a\nb"),
            another_way("decomposed Unicode characters", _clip("cafe\u0301"), text="caf\u00e9"),
        ),
        equivalent={"surrounding white space: args.text: cut": "trailing white space is ignored"},
    ),
    CaseTable(
        clipboard.clipboard_contains,
        DesktopFixture,
        (
            forged(
                "a different text as text/plain",
                _offers({"UTF8_STRING": "Invoice 4711", "text/plain": "Invoice 4712"}),
                text="4711",
            ),
            positive("part of the text", _clip("Invoice 4711 of May"), text="4711 of"),
            negative("different text", _clip("hello"), text="4711"),
            near_miss("different letter case", _clip("invoice"), text="Invoice"),
            near_miss("space inside the text", _clip("47 11"), text="4711"),
            corrupt("not UTF-8", _clip(b"47\xff11"), text="4711"),
            corrupt(
                "no display", _clip("4711", 1, "Error: Can't open display: (null)"), text="4711"
            ).expect_error(),
            missing("xclip missing", nothing, text="4711").expect_error(),
            empty("no text format", _clip("", 1, NO_TEXT), text="X"),
            empty("empty expected text", _clip("x"), text="").expect_error(),
            hostile("output with an error", _clip("4711", 1, NO_TEXT), text="4711"),
            forged(
                "selected instead of copied", _selected("Invoice 4711", _clip("x")), text="4711"
            ),
            forged("invisible character", _clip("Invoice 47\u200b11"), text="4711"),
            forged("only in the HTML format", _offers({"text/html": "4711"}), text="4711"),
            forged(
                "copied file with the text as name",
                _offers({"text/uri-list": "file:///4711", "UTF8_STRING": "/home/user/4711"}),
                text="4711",
            ),
            forged(
                "file copied in MATE",
                _offers({"x-special/mate-copied-files": "copy", "UTF8_STRING": "/home/user/4711"}),
                text="4711",
            ),
            another_way(
                "Latin-1 text of an old program", _offers({"STRING": b"M\xfcll 4711"}), text="Müll"
            ),
            another_way("across a CRLF line end", _clip("a\r\nb c"), text="a\nb"),
            another_way("decomposed Unicode characters", _clip("a cafe\u0301 b"), text="caf\u00e9"),
        ),
        equivalent={"*: args.text: cut": "a part of the text is also contained"},
    ),
)

TABLES = (*WINDOWS, *CLIPBOARD)
