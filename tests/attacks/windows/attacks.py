"""Threat model of evaluators of windows: classes, titles, places, which is in front.

What the agent's user can do to what they read:

* **Write** any property of any window, its own or another program's; move, unmap and grab.
* **Start** any program under any name, with any code preloaded, in mounts of its own; take all
  connections of the X server, or grab it.
* **Serve** an accessibility bus, speak on the true one, and hand connections down.
* It cannot change what the X server and the kernel say of who made a connection and what it runs.

What stands against it: a class counts only for a program that may bear it; a title is what the
window's own program tells over a bus of root's daemon; what nobody tells is unmet. Programs that serve
the agent, unmapped windows and code without a file are not stopped (docs/red-team.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from appliance.base.clock import wait_until
from evaluators.graph.outcome import Call
from tests.attacks.calls import CALCULATOR, RUNNING
from tests.attacks.model import CONTAINER, MACHINES, VM, WAITS, Evidence, ShellAttack, leaves
from tests.attacks.windows.scripts import (
    CROWD,
    DISGUISE,
    GRAB,
    HANDED_DOWN,
    PRELOAD_KEPT,
    PRELOAD_RIGHT,
    RENAME,
    TERMINAL,
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
_LIKE_OTHERS = "two others that tell titles are played"
_ON_VM, _ON_CONTAINER = frozenset({VM}), frozenset({CONTAINER})


def shown(arena: Arena) -> list[str]:
    """Return the titles as everybody sees them."""
    rows = cast("list[dict[str, str]]", arena.link.call("windows"))
    return [row["title"] for row in rows]


def _shows(title: str) -> Evidence:
    def is_shown(arena: Arena, output: str) -> None:
        is_seen = wait_until(lambda: title in " ".join(shown(arena)), timeout_s=90)
        assert is_seen, f"{shown(arena)}\n{output}\n{arena.shell('cat terminal.log')}"

    return is_shown


def _shown_at_least(arena: Arena, output: str) -> None:
    """Assert that a title is shown; nobody asks a program that is not the window's."""
    log = arena.shell("cat speech-*.log")
    assert "Traceback" not in log, log
    _shows(TITLE)(arena, output)


def _spoke(arena: Arena, _output: str) -> None:
    assert arena.shell("cat spoken").split(), "nobody asked"


def _preloaded(_arena: Arena, output: str) -> None:
    assert "/maps" in output, "the library is in no process"


ATTACKS = (
    # Another window manager, other terminals, another accessibility bus.
    ShellAttack(
        name="faking a window's title and class",
        family=FAMILY,
        script=WINDOWS,
        defence="a class counts only for a program that may bear it, by X server and kernel",
        calls=(CALCULATOR, RUNNING),
        differs_on=MACHINES,
        represents_on=MACHINES,
        effect=_shows("Calculator"),
    ),
    ShellAttack(
        name="renaming a right program's window",
        family=FAMILY,
        script=RENAME,
        defence="a title is what the window's own program tells over accessibility",
        calls=TITLES,
        differs_on=MACHINES,
        effect=_shows(TITLE),
        slow_on=_ON_VM,
    ),
    ShellAttack(
        name="ending the bus that tells titles",
        family=FAMILY,
        script=title_spoof_script("end"),
        defence="a title that nobody tells is unmet",
        calls=TITLES,
        differs_on=MACHINES,
        effect=_shown_at_least,
        evidence=_spoke,
        slow_on=_ON_VM,
    ),
    # The same daemon, connections and questions to the kernel everywhere; root in a container has
    # fewer capabilities to ask with.
    ShellAttack(
        name="telling titles as another program",
        family=FAMILY,
        script=title_spoof_script("program"),
        defence="only connections of the process that owns the window are asked, by the bus' daemon",
        calls=TITLES,
        differs_on=_ON_CONTAINER,
        effect=_shown_at_least,
        slow_on=_ON_VM,
    ),
    ShellAttack(
        name="telling titles as a bus",
        family=FAMILY,
        script=title_spoof_script("bus"),
        defence="the bus must be root's `dbus-daemon`",
        calls=TITLES,
        differs_on=_ON_CONTAINER,
        effect=_shown_at_least,
        evidence=_spoke,
        slow_on=_ON_VM,
    ),
    ShellAttack(
        name="telling titles as a bus handed down",
        family=FAMILY,
        script=title_spoof_script("handed"),
        defence="every byte must be written by that process (`SCM_CREDENTIALS`)",
        calls=TITLES,
        differs_on=_ON_CONTAINER,
        effect=_shown_at_least,
        only_nightly=_LIKE_OTHERS,
        evidence=_spoke,
        slow_on=_ON_VM,
    ),
    ShellAttack(
        name="telling titles by a connection kept",
        family=FAMILY,
        script=title_spoof_script("kept", starts=False),
        defence="a process' connections must be its own, closed on execution, held by nobody else",
        calls=TITLES,
        differs_on=_ON_CONTAINER,
        effect=_shown_at_least,
        only_nightly=_LIKE_OTHERS,
        evidence=_spoke,
        slow_on=_ON_VM,
    ),
    ShellAttack(
        name="telling titles by a connection left",
        family=FAMILY,
        script=title_spoof_script("left", starts=False),
        defence="a process' connections must be its own, as many as the daemon counts",
        calls=TITLES,
        differs_on=_ON_CONTAINER,
        effect=_shown_at_least,
        only_nightly=_LIKE_OTHERS,
        evidence=_spoke,
        slow_on=_ON_VM,
    ),
    ShellAttack(
        name="a right program's path in mounts of one's own",
        family=FAMILY,
        script=DISGUISE,
        defence="the path must lead to the very file that the process runs",
        calls=TITLES,
        differs_on=_ON_CONTAINER,
        effect=_shows(TITLE),
        slow_on=_ON_VM,
    ),
    ShellAttack(
        name="a connection handed down to a right program",
        family=FAMILY,
        script=HANDED_DOWN,
        defence="a process' connections must be its own: as many as the server counts",
        calls=TITLES,
        differs_on=_ON_CONTAINER,
        effect=_shows(TITLE),
        slow_on=_ON_VM,
    ),
    # Files behind a process' code are known by the kernel on a VM, by their paths in a container.
    ShellAttack(
        name="code preloaded into a right program",
        family=FAMILY,
        script=PRELOAD_RIGHT,
        defence="every file that a process executes code of must be root's",
        calls=TITLES,
        differs_on=MACHINES,
        represents_on=_ON_CONTAINER,
        effect=_shows(TITLE),
        evidence=_preloaded,
        slow_on=_ON_VM,
    ),
    ShellAttack(
        name="code preloaded that a service of root's keeps",
        family=FAMILY,
        script=PRELOAD_KEPT,
        defence="no code is root's own where services keep what they are given",
        calls=TITLES,
        differs_on=_ON_VM,
        effect=_shows(TITLE),
        evidence=_preloaded,
        slow_on=_ON_VM,
    ),
    # GNOME's terminal is on machines only.
    ShellAttack(
        name="a terminal's title",
        family=FAMILY,
        script=TERMINAL,
        defence="a terminal's title is what was printed in it, and no evidence",
        calls=TERMINALS,
        differs_on=MACHINES,
        effect=_shows(TITLE),
        slow_on=_ON_VM,
    ),
    ShellAttack(
        name="taking all connections of the X server",
        family=FAMILY,
        script=CROWD,
        defence="who cannot connect on a desktop that is in order finds nothing met",
        calls=(CALCULATOR,),
        goes_on=True,
        rounds=1,
        effect=leaves("crowded"),
    ),
    ShellAttack(
        name="grabbing the X server",
        family=FAMILY,
        script=GRAB,
        defence="who is not answered on a desktop that is in order finds nothing met",
        calls=(CALCULATOR,),
        goes_on=True,
        rounds=1,
        wave_timeout_s=4.0,
        only_nightly=WAITS,
        effect=leaves("grabbed"),
    ),
)
