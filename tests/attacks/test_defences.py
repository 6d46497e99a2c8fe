"""Defences: what must still be accepted, and side effects of an attack on other nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from evaluators.bundle import Bundle, desktop_bundle
from evaluators.graph.outcome import Call, Cause
from foundation.clock import wait_until
from foundation.files import digest_json
from tests.attacks.arenas import ARENAS
from tests.attacks.calls import ALL, REPORT, SETTING
from tests.attacks.model import MACHINES, NO_TOOL
from tests.attacks.probe.scripts import ENVIRONMENT, FAKE_MODULES, FAKE_PROGRAMS
from tests.attacks.test_attacks import assert_no_planted_code_ran
from tests.attacks.windows.attacks import TITLE, shown_titles
from tests.attacks.windows.scripts import RECLASS, RENAME
from tests.attacks.windows.wire import GENUINE
from tests.tiers import nightly

if TYPE_CHECKING:
    from tests.attacks.arenas import Arena

GENUINE_APPS = ("zenity", "Gnome-calculator")
ON_STAND_IN = pytest.mark.parametrize(
    "arena",
    [
        pytest.param(
            name,
            marks=[
                *marks,
                *([nightly("`make test` runs it on the stand-in")] if name in MACHINES else []),
            ],
        )
        for name, (_, marks) in ARENAS.items()
    ],
    indirect=True,
    scope="package",
)


@ON_STAND_IN
def test_a_new_bundle_is_loaded_from_memory_despite_shadowed_modules(clean_arena: Arena) -> None:
    arena = clean_arena
    arena.shell("echo wrong > report.txt")
    arena.shell(ENVIRONMENT + FAKE_PROGRAMS + FAKE_MODULES)
    modules = {**desktop_bundle().modules, "evaluators.desktop.red": '"""New."""\n'}
    outcomes = arena.judge(ALL, bundle=Bundle(digest_json(modules), modules))
    assert not any(outcome.met for outcome in outcomes.values()), outcomes
    assert_no_planted_code_ran(arena)


def test_every_desktop_reports_which_programs_run(clean_arena: Arena) -> None:
    arena = clean_arena
    calls = tuple(
        Call(f"{check} {program}", check, {"program": f"/usr/bin/{program}"})
        for program in ("shuf", "sleep")
        for check in ("process_absent", "process_running")
    )
    arena.background("sleep 600")

    def met() -> list[str]:
        outcomes = arena.judge(calls)
        return [call.node for call in calls if outcomes[call.node].met]

    expected = ["process_absent shuf", "process_running sleep"]
    assert wait_until(lambda: met() == expected, timeout_s=30), met()


@ON_STAND_IN
def test_a_title_that_the_program_set_is_accepted(clean_arena: Arena) -> None:
    arena = clean_arena
    calls = tuple(
        Call(f"{app} {title}", "window_title_equals", {"app": app, "title": title})
        for app, title in (("zenity", "Before"), ("Gnome-calculator", "Calculator"))
    )
    assert not any(outcome.met for outcome in arena.judge(calls).values())
    if NO_TOOL in arena.shell(GENUINE + "start_right"):
        pytest.skip("this desktop lacks the program or xdotool")

    def is_accepted() -> bool:
        return any(outcome.met for outcome in arena.judge(calls).values())

    assert wait_until(is_accepted, timeout_s=60), arena.judge(calls)
    arena.shell(RENAME)
    assert TITLE in shown_titles(arena)
    # A title that another program writes does not override it.
    assert wait_until(is_accepted, timeout_s=60), arena.judge(calls)


@ON_STAND_IN
def test_another_class_does_not_make_a_genuine_window_closed(clean_arena: Arena) -> None:
    arena = clean_arena
    if NO_TOOL in arena.shell(GENUINE + "start_right"):
        pytest.skip("this desktop lacks the program or xdotool")

    def find_open() -> list[str]:
        calls = [Call(app, "window_open", {"app": app}) for app in GENUINE_APPS]
        return [app for app, outcome in arena.judge(calls).items() if outcome.met]

    open_apps = wait_until(find_open, timeout_s=60) or []
    assert open_apps
    output = arena.shell(RECLASS)
    assert "changed" in output
    assert wait_until(lambda: "Other" in str(arena.link.call("windows")), timeout_s=20)
    for app in open_apps:
        outcomes = arena.judge(
            [
                Call("closed", "window_closed", {"app": app}),
                Call("none", "window_count", {"app": app, "count": 0}),
            ]
        )
        assert outcomes["closed"].met is False, outcomes
        assert outcomes["none"].met is None, outcomes
        assert outcomes["none"].cause is Cause.OBSTRUCTION


@ON_STAND_IN
def test_root_window_properties_do_not_change_a_windows_state(clean_arena: Arena) -> None:
    arena = clean_arena
    if NO_TOOL in arena.shell(GENUINE + "start_right") or not arena.shell("command -v xprop"):
        pytest.skip("this desktop lacks the program, xdotool, or xprop")

    def find_open() -> list[str]:
        calls = [Call(app, "window_in_front", {"app": app}) for app in GENUINE_APPS]
        return [app for app, outcome in arena.judge(calls).items() if outcome.met]

    open_apps = wait_until(find_open, timeout_s=60) or []
    assert len(open_apps) == 1
    app = open_apps[0]
    calls = (
        *(Call(f"{count}", "window_count", {"app": app, "count": count}) for count in range(5)),
        Call("closed", "window_closed", {"app": app}),
        Call("front", "window_in_front", {"app": app}),
    )

    def met() -> set[str]:
        return {name for name, outcome in arena.judge(calls).items() if outcome.met}

    assert met() == {"1", "front"}
    arena.shell(write_root_properties("$ids,$ids", app))
    written = [row["id"] for row in cast("list[dict[str, int]]", arena.link.call("windows"))]
    assert len(set(written)) < len(written)
    assert met() == {"1", "front"}
    arena.shell(f"xdotool search --onlyvisible --class {app} windowminimize")
    assert wait_until(lambda: met() == {"1"}, timeout_s=20), met()
    arena.shell(write_root_properties("$ids", app))
    assert met() == {"1"}
    arena.shell(write_root_properties("0x1", app))
    assert not [title for title in shown_titles(arena) if title]
    assert met() == {"1"}


def write_root_properties(ids: str, app: str) -> str:
    """Return a script that writes a window manager's properties; ``$ids``: a program's windows."""
    names = ("_NET_CLIENT_LIST", "_NET_CLIENT_LIST_STACKING", "_NET_ACTIVE_WINDOW")
    writes = [f"xprop -root -f {name} 32x -set {name} {ids}" for name in names]
    return "\n".join([f"ids=$(xdotool search --class {app} | paste -sd,)", *writes])


@ON_STAND_IN
def test_stopped_helpers_affect_only_their_own_node(clean_arena: Arena) -> None:
    arena = clean_arena
    arena.background("while :; do pkill -STOP -x gsettings; done")
    outcomes = arena.judge((SETTING, REPORT), timeout_s=6.0)
    assert outcomes["report"].met is False
    assert outcomes["setting"].met is not True


# Commands by window class; includes programs with just-in-time compilers and code of many backends.
ORDINARY = {
    "Gnome-calculator": "gnome-calculator",
    "Gedit": "gedit",
    "Org.gnome.Nautilus": "nautilus -w",
    "Gnome-terminal": "gnome-terminal",
    "Firefox-esr": "firefox-esr --no-remote about:blank",
    "libreoffice-writer": "libreoffice --norestore --writer",
    "zenity": "zenity --info --text hello",
}


@ON_STAND_IN
def test_ordinary_programs_only_run_code_owned_by_root(clean_arena: Arena) -> None:
    arena = clean_arena
    # Under emulation, the large ones take minutes.
    heavy = {"Firefox-esr", "libreoffice-writer"} if arena.may_fill else set()
    present = [
        app
        for app, command_line in ORDINARY.items()
        if app not in heavy and arena.shell(f"command -v {command_line.split()[0]}").strip()
    ]
    assert present
    for app in present:
        arena.background(f"cd; exec {ORDINARY[app]}")
    calls = [Call(app, "window_open", {"app": app}) for app in present]

    def missing() -> list[str]:
        return [app for app, outcome in arena.judge(calls).items() if not outcome.met]

    assert wait_until(lambda: not missing(), timeout_s=240), missing()
