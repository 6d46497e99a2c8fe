"""An agent with a shell tries to be judged better than it is; nothing may come of it.

Each attack is played by the agent's own user on a desktop, first on the stand-in, then on the
machines that are there (`arenas`). What the agent may do by honest means, such as setting a
setting, is no attack.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from appliance.base.clock import wait_until
from appliance.base.files import digest_json
from evaluators.bundle import Bundle, desktop_bundle
from evaluators.graph.outcome import Call
from tests.contract.arenas import ARENAS, MARK
from tests.contract.attacks import (
    ALL,
    ANSWER_FIRST,
    ATTACKS,
    ENVIRONMENT,
    FAKE_MODULES,
    FAKE_PROGRAMS,
    LOOT,
    PROFILE,
    REPORT,
    SCHEMAS,
    SECRET,
    SETTING,
    TITLE,
    WINDOWS,
)
from tests.contract.title_attacks import (
    DISGUISE,
    HANDED_DOWN,
    NO_TOOL,
    PRELOAD_RIGHT,
    RECLASS,
    RENAME,
    RIGHT,
    TERMINAL,
    library,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluators.graph.outcome import Outcome
    from tests.contract.arenas import Arena
    from tests.contract.attacks import Attack


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=list(marks)) for name, (_, marks) in ARENAS.items()],
)
def arena(request: pytest.FixtureRequest) -> Iterator[Arena]:
    make, _ = ARENAS[request.param]
    with make() as made:
        yield made


@pytest.fixture
def field_of(arena: Arena) -> Iterator[Arena]:
    """Return the arena without what the red team made before: rewound, or taken away by hand."""
    if arena.back is not None:
        arena.back()
        yield arena
        return
    arena.shell(
        "mkdir -p ~/.red-kept && cp -a ~/.[a-z]* ~/.red-kept 2> /dev/null; rm -rf ~/.red-kept/.red-kept"
    )
    yield arena
    arena.clear()
    arena.shell(
        "PYTHONPATH=. python3 speech.py restore x 2> /dev/null; rm -rf was-run* loot full full2 report.txt elsewhere.txt d e plain next bin keys seen "
        "answer.py replies spoken wire.py speech-*.log disguise.log handed-another.log handed-itself.log red-try evil.so __pycache__ gnome-session-b gnome-calculator *.py .local .config .profile .bashrc "
        '.pam_environment .bash_profile .xsessionrc .xprofile .gnomerc "$XDG_RUNTIME_DIR/dconf/profile" '
        "/tmp/sitecustomize.py /tmp/usercustomize.py /tmp/evaluators.py /tmp/signal.py; "
        "cp -a .red-kept/. . 2> /dev/null; rm -rf .red-kept"
    )


def judged(arena: Arena, attack: Attack) -> dict[str, Outcome]:
    """Judge again and again; give the first outcomes among which one is met, else the last."""
    outcomes: dict[str, Outcome] = {}
    for _ in range(attack.rounds):
        outcomes = arena.judge(attack.calls)
        if any(outcome.met for outcome in outcomes.values()):
            break
    return outcomes


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_no_attack_turns_an_unmet_node_into_a_met_one(field_of: Arena, attack: Attack) -> None:
    arena = field_of
    if attack.fills_disk and not arena.may_fill:
        pytest.skip("its disk is the host's")
    pid = cast("dict[str, int]", arena.link.call("ping"))["pid"]
    arena.shell(attack.prepare)
    before = arena.judge(attack.calls)
    assert [outcome.met for outcome in before.values()] == [False] * len(before), before
    said, script = "", attack.script
    if script is PRELOAD_RIGHT:
        script = script.replace("LIBRARY", library())
    if attack.goes_on:
        arena.background(script)
    else:
        said = arena.shell(script, timeout_s=180)
    if NO_TOOL in said:
        pytest.skip("the tool of this attack is not on this desktop, so the agent has it neither")
    after = judged(arena, attack)
    assert not any(outcome.met for outcome in after.values()), after
    check_traces(arena, attack, said)
    assert cast("dict[str, int]", arena.link.call("ping"))["pid"] == pid
    arena.clear()
    arena.shell("rm -f full full2")
    again = arena.judge((REPORT,))["report"]
    assert again.met is False, again


def shown(arena: Arena) -> list[str]:
    """Return the titles as everybody sees them."""
    rows = cast("list[dict[str, str]]", arena.link.call("windows"))
    return [row["title"] for row in rows]


def assert_nothing_was_run(arena: Arena) -> None:
    """Make sure that nothing planted ran in an evaluator's process.

    What the dynamic linker wrote for the agent's own programs, which carry its environment, is no
    trace of ours.
    """
    assert "was-run" not in arena.shell("ls -a").split()
    assert not arena.shell("find . -maxdepth 1 -name 'was-run.*' ! -user \"$(id -un)\"")


def check_traces(arena: Arena, attack: Attack, said: str) -> None:
    """Make sure that the attack was really played, and look at what it may have left."""
    assert_nothing_was_run(arena)
    assert "uid=0" not in said
    if attack.script in {SCHEMAS, PROFILE}:
        assert "prefer-dark" in said, f"the attack did not reach the agent's own gsettings: {said}"
    if attack.script is ANSWER_FIRST:
        assert "seen" in arena.shell("ls"), "the attack never saw a helper"
    if attack.script is LOOT:
        arena.clear()
        assert arena.shell(f"grep -ac {MARK}= loot").strip() not in {"", "0"}, "nothing was read"
        assert arena.shell(f"grep -ac -e '{SECRET}' -e 'def file_text_equals' loot").strip() == "0"
    if attack.script is WINDOWS:
        assert wait_until(lambda: "Calculator" in str(arena.link.call("windows")), timeout_s=20)
    if attack.script in {RENAME, HANDED_DOWN, PRELOAD_RIGHT, TERMINAL, DISGUISE}:
        assert wait_until(lambda: TITLE in shown(arena), timeout_s=30), (shown(arena), said)
    if attack.script is PRELOAD_RIGHT:
        assert "/maps" in said, "the library is in no process"
    if "speech.py" in attack.script:
        log = arena.shell("cat speech-*.log")
        assert "Traceback" not in log, log
        assert wait_until(lambda: TITLE in shown(arena), timeout_s=30), (shown(arena), log)
        arena.judge(attack.calls)
        # To the program on the true bus nobody comes: it is not the window's.
        did = arena.shell("cat spoken").split()
        assert did or "speech.py program" in attack.script
    if attack.fills_disk:
        assert said.rsplit(maxsplit=1)[-1] == "0", said


def test_a_new_bundle_is_taken_from_memory_while_the_modules_are_shadowed(field_of: Arena) -> None:
    arena = field_of
    arena.shell("echo wrong > report.txt")
    arena.shell(ENVIRONMENT + FAKE_PROGRAMS + FAKE_MODULES)
    modules = {**desktop_bundle().modules, "evaluators.desktop.red": '"""New."""\n'}
    outcome = arena.judge(ALL, bundle=Bundle(digest_json(modules), modules))
    assert not any(one.met for one in outcome.values()), outcome
    assert_nothing_was_run(arena)


def test_a_title_that_the_program_wrote_is_believed(field_of: Arena) -> None:
    arena = field_of
    calls = tuple(
        Call(f"{app} {title}", "window_title_equals", {"app": app, "title": title})
        for app, title in (("zenity", "Before"), ("Gnome-calculator", "Calculator"))
    )
    assert not any(one.met for one in arena.judge(calls).values())
    if NO_TOOL in arena.shell(RIGHT + "start_right"):
        pytest.skip("this desktop has no such program, or no xdotool")

    def is_believed() -> bool:
        return any(one.met for one in arena.judge(calls).values())

    assert wait_until(is_believed, timeout_s=60), arena.judge(calls)
    arena.shell(RENAME)
    assert TITLE in shown(arena)
    # Another's writing does not undo it either.
    assert wait_until(is_believed, timeout_s=60), arena.judge(calls)


def test_another_class_on_a_right_programs_window_closes_nothing(field_of: Arena) -> None:
    arena = field_of
    if NO_TOOL in arena.shell(RIGHT + "start_right"):
        pytest.skip("this desktop has no such program, or no xdotool")

    def find_open() -> list[str]:
        calls = [Call(app, "window_open", {"app": app}) for app in ("zenity", "Gnome-calculator")]
        return [app for app, outcome in arena.judge(calls).items() if outcome.met]

    open_ones = wait_until(find_open, timeout_s=60) or []
    assert open_ones
    said = arena.shell(RECLASS)
    assert "changed" in said
    assert wait_until(lambda: "Other" in str(arena.link.call("windows")), timeout_s=20)
    for app in open_ones:
        outcomes = arena.judge(
            [
                Call("closed", "window_closed", {"app": app}),
                Call("none", "window_count", {"app": app, "count": 0}),
            ]
        )
        assert outcomes["closed"].met is False, outcomes
        assert outcomes["none"].met is None, outcomes


def test_stopped_helpers_cost_their_own_node_alone(field_of: Arena) -> None:
    arena = field_of
    arena.background("while :; do pkill -STOP -x gsettings; done")
    outcomes = arena.judge((SETTING, REPORT), timeout_s=6.0)
    assert outcomes["report"].met is False
    assert outcomes["setting"].met is not True


# By class, how each is started; those with compilers at run time and code of many backends.
ORDINARY = {
    "Gnome-calculator": "gnome-calculator",
    "Gedit": "gedit",
    "Org.gnome.Nautilus": "nautilus -w",
    "Gnome-terminal": "gnome-terminal",
    "Firefox-esr": "firefox-esr --no-remote about:blank",
    "libreoffice-writer": "libreoffice --norestore --writer",
    "zenity": "zenity --info --text hello",
}


def test_ordinary_programs_run_nothing_but_roots_code(field_of: Arena) -> None:
    arena = field_of
    # Under emulation the large ones alone take minutes.
    heavy = {"Firefox-esr", "libreoffice-writer"} if arena.may_fill else set()
    present = [
        app
        for app, words in ORDINARY.items()
        if app not in heavy and arena.shell(f"command -v {words.split()[0]}").strip()
    ]
    assert present
    for app in present:
        arena.background(f"cd; exec {ORDINARY[app]}")
    calls = [Call(app, "window_open", {"app": app}) for app in present]

    def missing() -> list[str]:
        return [app for app, one in arena.judge(calls).items() if not one.met]

    assert wait_until(lambda: not missing(), timeout_s=240), missing()
