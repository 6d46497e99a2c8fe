"""Threat model of evaluators of windows: classes, titles, positions, and the active window.

What the agent's user can do to their input:

* **Write** any property of any window, its own or another program's; move, shape, unmap, and grab
  windows.
* **Start** any program under any name, with any code preloaded, in private mounts; use up the X
  server's connections, or grab the server.
* **Serve** an accessibility bus, send messages on the genuine one, and pass connections to
  children.
* It cannot change what the X server and the kernel report about the process that made a connection.

Defences: a class counts only for a program that may have it; a title is what the window's own
program reports over a bus of root's daemon; an unreported title is unmet. Programs that the agent
controls, unmapped windows, and code without a file are not prevented (docs/red-team.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from evaluators.graph.outcome import Call
from foundation.clock import wait_until
from tests.attacks.calls import CALCULATOR, RUNNING
from tests.attacks.model import (
    CONTAINER,
    MACHINES,
    REPEATED_TIMEOUTS,
    VM,
    Evidence,
    ShellAttack,
    creates_file,
)
from tests.attacks.windows.scripts import (
    CROWD,
    DISGUISE,
    GRAB,
    INHERITED_CONNECTION,
    PRELOAD_GENUINE,
    PRELOAD_STORED,
    RENAME,
    TERMINAL,
    UNSEEN,
    WINDOWS,
)
from tests.attacks.windows.speech import title_spoof_script

if TYPE_CHECKING:
    from tests.attacks.arenas import Arena

FAMILY = "windows"
TITLE = "Report sent"
TITLES = tuple(
    Call(f"{check} {app}", check, {"app": app, word: TITLE})
    for app in ("Gnome-calculator", "zenity", "Zenity")
    for check, word in (
        ("window_title_equals", "title"),
        ("window_open", "title_contains"),
        ("window_in_front", "title_contains"),
    )
)
TERMINALS = tuple(
    Call(f"title of {app}", "window_title_equals", {"app": app, "title": TITLE})
    for app in ("Gnome-terminal", "XTerm")
)
GENUINE_WINDOWS = tuple(
    Call(f"{check} {app}", check, {"app": app, **args})
    for app in ("Gnome-calculator", "zenity", "Zenity")
    for check, args in (
        ("window_open", {}),
        ("window_in_front", {}),
        ("window_count", {"count": 1}),
    )
)
_SIMILAR = "`make test` runs two similar attacks"
_ON_VM, _ON_CONTAINER = frozenset({VM}), frozenset({CONTAINER})


def shown_titles(arena: Arena) -> list[str]:
    """Return the titles as every client of the X server sees them."""
    rows = cast("list[dict[str, str]]", arena.link.call("windows"))
    return [row["title"] for row in rows]


def _shows(title: str) -> Evidence:
    def is_shown(arena: Arena, output: str) -> None:
        is_seen = wait_until(lambda: title in " ".join(shown_titles(arena)), timeout_s=90)
        assert is_seen, f"{shown_titles(arena)}\n{output}\n{arena.shell('cat terminal.log')}"

    return is_shown


def _shows_title(arena: Arena, output: str) -> None:
    """Assert that the title is shown; programs that do not own the window are never queried."""
    log = arena.shell("cat speech-*.log")
    assert "Traceback" not in log, log
    _shows(TITLE)(arena, output)


def _was_queried(arena: Arena, _output: str) -> None:
    assert arena.shell("cat spoken").split(), "no client sent a query"


def _is_unseen(_arena: Arena, output: str) -> None:
    assert "unseen" in output, output


def _library_is_loaded(_arena: Arena, output: str) -> None:
    assert "/maps" in output, "no process has loaded the library"


ATTACKS = (
    # Window manager, terminals, and accessibility bus differ from the stand-in's.
    ShellAttack(
        name="faking a window's title and class",
        family=FAMILY,
        script=WINDOWS,
        defence="a class counts only if X server and kernel confirm the program",
        calls=(CALCULATOR, RUNNING),
        differs_on=MACHINES,
        represents_on=MACHINES,
        effect=_shows("Calculator"),
    ),
    ShellAttack(
        name="renaming a genuine program's window",
        family=FAMILY,
        script=RENAME,
        defence="titles are those that the window's own program reports over AT-SPI",
        calls=TITLES,
        differs_on=MACHINES,
        effect=_shows(TITLE),
        slow_on=_ON_VM,
    ),
    ShellAttack(
        name="killing the accessibility bus",
        family=FAMILY,
        script=title_spoof_script("end"),
        defence="an unreported title is unmet",
        calls=TITLES,
        differs_on=MACHINES,
        effect=_shows_title,
        evidence=_was_queried,
        slow_on=_ON_VM,
    ),
    # The daemon, connections, and kernel queries are the same everywhere, but root in a container
    # has fewer capabilities.
    ShellAttack(
        name="reporting titles as another program",
        family=FAMILY,
        script=title_spoof_script("program"),
        defence="only connections of the process that owns the window are queried, "
        "as the bus daemon identifies them",
        calls=TITLES,
        differs_on=_ON_CONTAINER,
        effect=_shows_title,
        slow_on=_ON_VM,
    ),
    ShellAttack(
        name="reporting titles as a bus",
        family=FAMILY,
        script=title_spoof_script("bus"),
        defence="the bus must be root's `dbus-daemon`",
        calls=TITLES,
        differs_on=_ON_CONTAINER,
        effect=_shows_title,
        evidence=_was_queried,
        slow_on=_ON_VM,
    ),
    ShellAttack(
        name="reporting titles over an inherited bus socket",
        family=FAMILY,
        script=title_spoof_script("handed"),
        defence="every byte must be written by the bus daemon itself (`SCM_CREDENTIALS`)",
        calls=TITLES,
        differs_on=_ON_CONTAINER,
        effect=_shows_title,
        only_nightly=_SIMILAR,
        evidence=_was_queried,
        slow_on=_ON_VM,
    ),
    ShellAttack(
        name="reporting titles over a kept connection",
        family=FAMILY,
        script=title_spoof_script("kept", starts=False),
        defence="a process's connections must be its own, close-on-exec, and not shared",
        calls=TITLES,
        differs_on=_ON_CONTAINER,
        effect=_shows_title,
        only_nightly=_SIMILAR,
        evidence=_was_queried,
        slow_on=_ON_VM,
    ),
    ShellAttack(
        name="reporting titles over an abandoned connection",
        family=FAMILY,
        script=title_spoof_script("left", starts=False),
        defence="a process's connections must be its own, as many as the daemon reports",
        calls=TITLES,
        differs_on=_ON_CONTAINER,
        effect=_shows_title,
        only_nightly=_SIMILAR,
        evidence=_was_queried,
        slow_on=_ON_VM,
    ),
    ShellAttack(
        name="a genuine program's path in private mounts",
        family=FAMILY,
        script=DISGUISE,
        defence="the path must lead to the file that the process executes",
        calls=TITLES,
        differs_on=_ON_CONTAINER,
        effect=_shows(TITLE),
        slow_on=_ON_VM,
    ),
    ShellAttack(
        name="a connection inherited by a genuine program",
        family=FAMILY,
        script=INHERITED_CONNECTION,
        defence="a process's connections must be its own, as many as the server reports",
        calls=TITLES,
        differs_on=_ON_CONTAINER,
        effect=_shows(TITLE),
        slow_on=_ON_VM,
    ),
    # The files of a process's code are identified by the kernel on a VM, by path in a container.
    ShellAttack(
        name="code preloaded into a genuine program",
        family=FAMILY,
        script=PRELOAD_GENUINE,
        defence="every file with code that a process executes must be owned by root",
        calls=TITLES,
        differs_on=MACHINES,
        represents_on=_ON_CONTAINER,
        effect=_shows(TITLE),
        evidence=_library_is_loaded,
        slow_on=_ON_VM,
    ),
    ShellAttack(
        name="preloaded code stored by a root service",
        family=FAMILY,
        script=PRELOAD_STORED,
        defence="files in folders where services store user data do not count as root's code",
        calls=TITLES,
        differs_on=_ON_VM,
        effect=_shows(TITLE),
        evidence=_library_is_loaded,
        slow_on=_ON_VM,
    ),
    *(
        ShellAttack(
            name=f"a genuine window that nobody sees, by its {how}",
            family=FAMILY,
            script=UNSEEN.replace("HOW", how),
            defence="a window counts only if a part of it can be seen",
            calls=GENUINE_WINDOWS,
            evidence=_is_unseen,
        )
        for how in ("shape", "opacity")
    ),
    # Only machines have GNOME's terminal.
    ShellAttack(
        name="a terminal's title",
        family=FAMILY,
        script=TERMINAL,
        defence="a terminal's title is printed text, not evidence",
        calls=TERMINALS,
        differs_on=MACHINES,
        effect=_shows(TITLE),
        slow_on=_ON_VM,
    ),
    ShellAttack(
        name="using up the X server's connections",
        family=FAMILY,
        script=CROWD,
        defence="if an evaluator cannot connect on a healthy desktop, its node is unmet",
        calls=(CALCULATOR,),
        is_background=True,
        rounds=1,
        effect=creates_file("crowded"),
    ),
    ShellAttack(
        name="grabbing the X server",
        family=FAMILY,
        script=GRAB,
        defence="if an evaluator gets no answer on a healthy desktop, its node is unmet",
        calls=(CALCULATOR,),
        is_background=True,
        rounds=1,
        wave_timeout_s=4.0,
        only_nightly=REPEATED_TIMEOUTS,
        effect=creates_file("grabbed"),
    ),
)
