"""Cases of evaluators of windows and the clipboard."""

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

NO_FORM = "the window manager's answer has one form only; the probe refuses all others"
NO_TEXT = "Error: target UTF8_STRING not available"


def _clip(out: str | bytes, code: int = 0, err: str = "") -> State:
    """Let the clipboard be asked for UTF-8 text, as its owner offers it."""
    return _offers({"UTF8_STRING": out}, code=code, err=err)


def _offers(forms: dict[str, str | bytes], *, code: int = 0, err: str = "") -> State:
    """Let the clipboard's owner offer some forms, and answer with an exit code of xclip."""

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


def _no_owner(b: DesktopFixture) -> None:
    """Leave the clipboard without an owner."""
    for form in ("TARGETS", "UTF8_STRING"):
        b.prints([*clipboard.XCLIP, form], "", 1, f"Error: target {form} not available\n")


def _silent(b: DesktopFixture) -> None:
    """Let the owner offer UTF-8 text without a list of targets."""
    b.prints([*clipboard.XCLIP, "TARGETS"], "", 1, "Error: target TARGETS not available\n")
    b.prints([*clipboard.XCLIP, "UTF8_STRING"], "044")


def _show(*rows: tuple[str, str, bool]) -> State:
    return lambda b: [b.show(app, title, active=active) for app, title, active in rows]


def _place(*geometry: int) -> State:
    return lambda b: b.show("Gedit", "x", geometry=geometry)


def _renamed(*names: str, program: str = "/bin/sh") -> State:
    """Open a window of a program that is on every system, with another class written on it."""
    real = os.path.realpath(program)

    def state(b: DesktopFixture) -> None:
        for name in names:
            b.show(name, "notes")
        for window in b.windows or ():
            window["program"] = real

    return state


# Names that such a program may have: its own name.
_SHELL = Path(os.path.realpath("/bin/sh")).name


def _bears(*names: str, app: str = "Gedit", title: str = "notes", active: bool = False) -> State:
    """Open a window with names that its program may have, without the application's."""

    def state(b: DesktopFixture) -> None:
        b.show(app, title, active=active)
        (b.windows or [])[-1].update(wm_class=list(names), program="/home/user/fake")

    return state


def _both(*states: State) -> State:
    return lambda b: [state(b) for state in states]


def _no_windows(b: DesktopFixture) -> None:
    b.windows = []


def _common(title: bool) -> tuple[Case, ...]:
    """Return cases that every evaluator of a window by class has."""
    args: dict[str, str] = {"title_contains": "notes"} if title else {}
    return (
        negative("another application", _show(("Evince", "notes", True)), app="Gedit", **args),
        near_miss("part of the class", _show(("Gedit-plugin", "notes", True)), app="Gedit", **args),
        hostile("the class as a title", _show(("X", "Gedit notes", True)), app="Gedit", **args),
        missing("no session", nothing, app="Gedit", **args).expect_error(),
        empty("no windows", _no_windows, app="Gedit", **args),
    )


WINDOWS = (
    CaseTable(
        windows.window_in_front,
        DesktopFixture,
        (
            positive(
                "by class", _show(("X", "x", False), ("Gedit", "notes.txt", True)), app="gedit"
            ),
            positive(
                "and title",
                _show(("Gedit", "notes.txt", True)),
                app="Gedit",
                title_contains="notes",
            ),
            *_common(title=True),
            near_miss(
                "behind",
                _show(("Gedit", "notes", False), ("X", "x", True)),
                app="Gedit",
                title_contains="notes",
            ),
            near_miss(
                "title in other case",
                _show(("Gedit", "Notes", True)),
                app="Gedit",
                title_contains="notes",
            ),
            near_miss(
                "another of its windows",
                _show(("Gedit", "notes", False), ("Gedit", "x", True)),
                app="Gedit",
                title_contains="notes",
            ),
            forged("another program with the class", _bears("", "", active=True), app="Gedit"),
            forged(
                "another program in front, with class and title",
                _both(_show(("Gedit", "notes", False)), _bears("", "", active=True)),
                app="Gedit",
                title_contains="notes",
            ),
            forged(
                "a letter of another script in the title",
                _show(("Gedit", "n\u043etes", True)),
                app="Gedit",
                title_contains="notes",
            ),
            another_way(
                "known by its instance",
                _bears("gedit", "Org.gnome.gedit", active=True),
                app="Gedit",
                title_contains="notes",
            ),
            another_way(
                "a second window of it",
                _show(("Gedit", "x", False), ("Gedit", "notes", True)),
                app="Gedit",
                title_contains="notes",
            ),
            hostile("no application asked for", _bears("", "", active=True), app=""),
            hostile(
                "control characters",
                _show(("Gedit", "no\0tes\n", True)),
                app="Gedit",
                title_contains="notes",
            ),
        ),
        inapplicable={CaseKind.CORRUPT: NO_FORM},
        equivalent={
            "*: args.app: swap case": "letter case of the class does not count",
            "by class: window 0: *": "another window does not count",
            "by class: window 1: other title": "the title does not count",
            "and title: args.title_contains: *": "part of the title, or any",
            "*: window *: move": "the place does not count",
            "*: window *: resize": "the size does not count",
        },
    ),
    CaseTable(
        windows.window_open,
        DesktopFixture,
        (
            positive(
                "by class, not by instance",
                lambda b: (b.show("Gedit", "x"), b.windows[0].update(wm_class=["main", "Gedit"])),
                app="gedit",
            ),
            positive(
                "by class", _show(("Gedit", "notes.txt", False), ("X", "x", True)), app="GEDIT"
            ),
            positive(
                "and title",
                _show(("Gedit", "notes.txt", True)),
                app="Gedit",
                title_contains="notes",
            ),
            *_common(title=True),
            near_miss(
                "title in other case",
                _show(("Gedit", "Notes", True)),
                app="Gedit",
                title_contains="notes",
            ),
            near_miss(
                "the title on another's",
                _show(("Gedit", "x", True), ("X", "notes", False)),
                app="Gedit",
                title_contains="notes",
            ),
            forged("another program with the class", _bears("", "", active=True), app="Gedit"),
            forged(
                "the title on another program with the class",
                _both(_show(("Gedit", "x", True)), _bears("", "")),
                app="Gedit",
                title_contains="notes",
            ),
            forged(
                "a letter of another script in the title",
                _show(("Gedit", "n\u043etes", True)),
                app="Gedit",
                title_contains="notes",
            ),
            another_way(
                "behind others", _show(("Gedit", "notes", False), ("X", "x", True)), app="Gedit"
            ),
            another_way(
                "beside another one with the class",
                _both(_bears("", ""), _show(("Gedit", "my notes.txt", False))),
                app="Gedit",
                title_contains="notes",
            ),
        ),
        inapplicable={CaseKind.CORRUPT: NO_FORM},
        equivalent={
            "*: args.app: swap case": "letter case of the class does not count",
            "by class: window 1: *": "another window does not count",
            "by class*: window 0: other title": "the title does not count",
            "and title: args.title_contains: *": "part of the title, or any",
            "*: window *: move": "the place does not count",
            "*: window *: resize": "the size does not count",
            "*: window *: front": "being in front does not count",
        },
    ),
    CaseTable(
        windows.window_closed,
        DesktopFixture,
        (
            positive("another application's", _show(("Evince", "notes", True)), app="Gedit"),
            positive(
                "another title", _show(("Gedit", "todo", True)), app="Gedit", title_contains="notes"
            ),
            negative("open", _show(("Gedit", "notes", True)), app="Gedit"),
            near_miss(
                "behind",
                _show(("Gedit", "notes", False), ("X", "x", True)),
                app="gedit",
                title_contains="note",
            ),
            missing("no session", nothing, app="Gedit").expect_error(),
            empty("no windows", _no_windows, app="Gedit").expect_met(),
            hostile(
                "part of the class does not count", _show(("Gedit-plugin", "x", True)), app="Gedit"
            ).expect_met(),
            hostile("another class on its window", _renamed("Other"), app=_SHELL),
            hostile(
                "another class on its window, by title",
                _renamed("Other"),
                app=_SHELL,
                title_contains="note",
            ),
            forged("its class taken away", _renamed(""), app=_SHELL),
            forged("only its title changed", _show(("Gedit", "other", False)), app="Gedit"),
            forged("only sent behind", _show(("Gedit", "x", False), ("X", "y", True)), app="Gedit"),
            another_way("another program with the class is open", _bears("", ""), app="Gedit"),
            another_way(
                "one of its two windows",
                _show(("Gedit", "todo", False), ("X", "notes", True)),
                app="Gedit",
                title_contains="notes",
            ),
        ),
        inapplicable={CaseKind.CORRUPT: NO_FORM},
        equivalent={
            "*: args.app: *": "no such window is open either",
            "*: window *": "the window is none of those asked for",
            "another title: args.title_contains: [!e]*": "no such title is there either",
        },
    ),
    CaseTable(
        windows.window_title_equals,
        DesktopFixture,
        (
            positive("the title", _show(("Gedit", "notes", False)), app="Gedit", title="notes"),
            negative(
                "another application", _show(("Evince", "notes", True)), app="Gedit", title="notes"
            ),
            near_miss(
                "more in the title", _show(("Gedit", "notes.txt", True)), app="Gedit", title="notes"
            ),
            near_miss(
                "part of the class", _show(("Gedit2", "notes", True)), app="Gedit", title="notes"
            ),
            missing("no session", nothing, app="Gedit", title="notes").expect_error(),
            empty("no title", _show(("Gedit", "", True)), app="Gedit", title="notes"),
            hostile(
                "a blank more", _show(("Gedit", "notes\u200b", True)), app="Gedit", title="notes"
            ),
            forged(
                "another program with class and title", _bears("", ""), app="Gedit", title="notes"
            ),
            forged(
                "a letter of another script",
                _show(("Gedit", "n\u043etes", True)),
                app="Gedit",
                title="notes",
            ),
            another_way(
                "known by its instance",
                _bears("gedit", "Org.gnome.gedit"),
                app="Gedit",
                title="notes",
            ),
            another_way(
                "one of its two windows",
                _show(("Gedit", "x", True), ("Gedit", "notes", False)),
                app="Gedit",
                title="notes",
            ),
        ),
        inapplicable={CaseKind.CORRUPT: NO_FORM},
        equivalent={
            "*: args.app: swap case": "letter case of the class does not count",
            "*: window *: move": "the place does not count",
            "*: window *: resize": "the size does not count",
            "*: window *: front": "being in front does not count",
        },
    ),
    CaseTable(
        windows.window_count,
        DesktopFixture,
        (
            positive(
                "two",
                _show(("Gedit", "a", False), ("Gedit", "b", True), ("X", "x", False)),
                app="gedit",
                count=2,
            ),
            negative("none", _show(("X", "x", False)), app="Gedit", count=2),
            near_miss("one more", _show(*[("Gedit", "a", False)] * 3), app="Gedit", count=2),
            near_miss(
                "one of another's",
                _show(("Gedit", "a", False), ("Gedit2", "b", True)),
                app="Gedit",
                count=2,
            ),
            missing("no session", nothing, app="Gedit", count=0).expect_error(),
            empty("none wanted", _no_windows, app="Gedit", count=0).expect_met(),
            hostile(
                "another class on one", _renamed(_SHELL, "X"), app=_SHELL, count=1
            ).expect_error(),
            hostile(
                "titles like it",
                _show(("X", "Gedit", False), ("X", "gedit", True)),
                app="Gedit",
                count=2,
            ),
            forged(
                "one of another program with the class",
                _both(_show(("Gedit", "a", True)), _bears("", "")),
                app="Gedit",
                count=2,
            ),
            forged(
                "two of another program",
                _both(_bears("", ""), _bears("", "")),
                app="Gedit",
                count=2,
            ),
            another_way(
                "known by their instance",
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
                "beside another program with the class",
                _both(_show(("Gedit", "a", True)), _bears("", "")),
                app="Gedit",
                count=1,
            ),
        ),
        inapplicable={CaseKind.CORRUPT: NO_FORM},
        equivalent={
            "*: args.app: swap case": "letter case of the class does not count",
            "*: window *: [!c]*": "only the class counts, or it is another's window",
            "*: window 2: *": "another's window",
        },
    ),
    CaseTable(
        windows.window_at,
        DesktopFixture,
        (
            positive("there", _place(3, 37, 640, 760), app="Gedit", geometry=[0, 0, 640, 800]),
            positive(
                "exactly, at the bound",
                _place(10, 0, 640, 800),
                app="Gedit",
                geometry=[0, 0, 640, 800],
                tolerance_px=10,
            ),
            negative(
                "elsewhere", _place(500, 300, 200, 100), app="Gedit", geometry=[0, 0, 640, 800]
            ),
            near_miss(
                "too far left", _place(41, 0, 640, 800), app="Gedit", geometry=[0, 0, 640, 800]
            ),
            near_miss("too low", _place(0, 41, 640, 800), app="Gedit", geometry=[0, 0, 640, 800]),
            near_miss("too narrow", _place(0, 0, 599, 800), app="Gedit", geometry=[0, 0, 640, 800]),
            near_miss("too high", _place(0, 0, 640, 841), app="Gedit", geometry=[0, 0, 640, 800]),
            near_miss(
                "another's",
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
                "another program with the class",
                lambda b: (
                    b.show("Gedit", "x", geometry=(0, 0, 640, 800)),
                    b.windows[0].update(wm_class=["", ""]),
                ),
                app="Gedit",
                geometry=[0, 0, 640, 800],
            ),
            forged(
                "the place of one window, the size of another",
                _both(_place(0, 0, 200, 100), _place(500, 300, 640, 800)),
                app="Gedit",
                geometry=[0, 0, 640, 800],
            ),
            forged(
                "off the screen by its size",
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
                "one of its two windows",
                _both(_place(500, 300, 200, 100), _place(0, 0, 640, 800)),
                app="Gedit",
                geometry=[0, 0, 640, 800],
            ),
            hostile(
                "negative",
                _place(-640, -800, -640, -800),
                app="Gedit",
                geometry=[640, 800, 640, 800],
            ),
        ),
        equivalent={
            "*: args.app: swap case": "letter case of the class does not count",
            "*: args.tolerance_px: more": "within it, too",
            "*: window *: other title": "the title does not count",
            "*: window *: front": "being in front does not count",
        },
    ),
)

CLIPBOARD = (
    CaseTable(
        clipboard.clipboard_equals,
        DesktopFixture,
        (
            positive("a text", _clip("044 ✓\n"), text="044 ✓"),
            positive("blanks around", _clip("x"), text=" x\n"),
            negative("another", _clip("hello"), text="044"),
            near_miss("more", _clip("0441"), text="044"),
            near_miss("letter case", _clip("Ann"), text="ann"),
            corrupt("no UTF-8", _clip(b"044\xff"), text="044"),
            corrupt(
                "no display", _clip("", 1, "Error: Can't open display: (null)"), text="044"
            ).expect_error(),
            missing("no xclip", nothing, text="044").expect_error(),
            empty("a picture or nothing", _clip("", 1, NO_TEXT), text="044"),
            empty("nothing wanted", _clip(""), text=" ").expect_error(),
            hostile("control characters", _clip("044\0"), text="044"),
            hostile("output beside an error", _clip("044", 1, NO_TEXT), text="044"),
            hostile("xclip is ended", _clip("044", -9, NO_TEXT), text="044").expect_error(),
            empty("nobody owns it", _no_owner, text="044"),
            forged("selected, not copied", _selected("044", _clip("43")), text="044"),
            forged("selected only", _selected("044", _no_owner), text="044"),
            forged("an invisible character", _clip("0\u200b44"), text="044"),
            forged("digits of another script", _clip("\u0660\u0664\u0664"), text="044"),
            forged("in the web page's source only", _offers({"text/html": "044"}), text="044"),
            forged(
                "a copied file of that name",
                _offers(
                    {"x-special/gnome-copied-files": "copy\nfile:///044", "UTF8_STRING": "044"}
                ),
                text="044",
            ),
            another_way("by an old program", _offers({"STRING": b"M\xfcll"}), text="Müll"),
            another_way(
                "the address of a link",
                _offers({"text/uri-list": "http://a.test/\r\n", "UTF8_STRING": "http://a.test/"}),
                text="http://a.test/",
            ),
            another_way(
                "by a toolkit's name of text",
                _offers({"text/plain;charset=utf-8": "Müll"}),
                text="Müll",
            ),
            another_way(
                "in several forms, one of them broken",
                _offers({"STRING": b"M?ll", "text/html": "<b>x", "UTF8_STRING": "Müll"}),
                text="Müll",
            ),
            another_way("by an owner that lists nothing", _silent, text="044"),
            another_way("lines that end otherwise", _clip("a\r\nb\r\n"), text="a\nb"),
            another_way("accents apart", _clip("cafe\u0301"), text="caf\u00e9"),
        ),
        equivalent={"blanks around: args.text: cut": "blanks at the end do not count"},
    ),
    CaseTable(
        clipboard.clipboard_contains,
        DesktopFixture,
        (
            positive("a part", _clip("Invoice 4711 of May"), text="4711 of"),
            negative("another", _clip("hello"), text="4711"),
            near_miss("letter case", _clip("invoice"), text="Invoice"),
            near_miss("a blank between", _clip("47 11"), text="4711"),
            corrupt("no UTF-8", _clip(b"47\xff11"), text="4711"),
            corrupt(
                "no display", _clip("4711", 1, "Error: Can't open display: (null)"), text="4711"
            ).expect_error(),
            missing("no xclip", nothing, text="4711").expect_error(),
            empty("nothing", _clip("", 1, NO_TEXT), text="X"),
            empty("nothing wanted", _clip("x"), text="").expect_error(),
            hostile("output beside an error", _clip("4711", 1, NO_TEXT), text="4711"),
            forged("selected, not copied", _selected("Invoice 4711", _clip("x")), text="4711"),
            forged("an invisible character", _clip("Invoice 47\u200b11"), text="4711"),
            forged("in the web page's source only", _offers({"text/html": "4711"}), text="4711"),
            forged(
                "a copied file of that name",
                _offers({"text/uri-list": "file:///4711", "UTF8_STRING": "/home/user/4711"}),
                text="4711",
            ),
            forged(
                "a file copied in MATE",
                _offers({"x-special/mate-copied-files": "copy", "UTF8_STRING": "/home/user/4711"}),
                text="4711",
            ),
            another_way("by an old program", _offers({"STRING": b"M\xfcll 4711"}), text="Müll"),
            another_way("over lines that end otherwise", _clip("a\r\nb c"), text="a\nb"),
            another_way("accents apart", _clip("a cafe\u0301 b"), text="caf\u00e9"),
        ),
        equivalent={"*: args.text: cut": "a part of it is there, too"},
    ),
)

TABLES = (*WINDOWS, *CLIPBOARD)
