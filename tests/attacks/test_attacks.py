"""An agent with a shell tries to be judged better than it is; nothing may come of it.

Each attack is played by the agent's own user on a desktop, on the stand-in first, then on the
machines that are there (`arenas`), in a trial that is judged as every trial is. Afterwards no node is
met, none is undecided, and the verdict is FAIL. What the agent may do by honest means, such as setting
a setting, is no attack.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from evaluators.graph.outcome import Verdict
from tests.attacks.calls import REPORT
from tests.attacks.cross.attacks import FAMILY as CROSS
from tests.attacks.model import MOST_ROUNDS, NO_TOOL, Group, ShellAttack
from tests.attacks.registry import honest_ways, rounds
from tests.attacks.techniques import FUSE
from tests.attacks.trial import cross_trial, desktop_trial
from tests.attacks.windows.scripts import PRELOAD_KEPT, PRELOAD_RIGHT, library

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.attacks.arenas import Arena
    from tests.attacks.trial import PlayedTrial


@pytest.mark.parametrize("attack", rounds(), ids=lambda attack: attack.name)
def test_no_attack_meets_a_node_or_leaves_the_denominator(
    field: Arena, attack: ShellAttack | Group
) -> None:
    arena = field
    attacks = attack.attacks if isinstance(attack, Group) else (attack,)
    if any(played.fills_disk for played in attacks) and not arena.may_fill:
        pytest.skip("its disk is the host's")
    pid = cast("dict[str, int]", arena.link.call("ping"))["pid"]
    for played in attacks:
        arena.play(played.prepare)
    calls = tuple(call for played in attacks for call in played.calls)
    make = cross_trial if attack.family == CROSS else desktop_trial
    trial = make(
        arena.machine, calls, wave_timeout_s=attack.wave_timeout_s, together=attack.together
    )
    trial.begin()
    outputs = [play(arena, played) for played in attacks]
    if all(NO_TOOL in output for output in outputs):
        pytest.skip("the tool of this attack is not on this desktop, so the agent has it neither")
    for played, output in zip(attacks, outputs, strict=True):
        if NO_TOOL not in output:
            played.effect(arena, output)
    met = judge_rounds(arena, trial, attacks)
    judgement = trial.judge()
    assert (met, trial.met()) == ([], [])
    assert judgement.verdict is Verdict.FAIL, judgement.ending
    assert dict(trial.graph.inconclusive) == {}
    for played, output in zip(attacks, outputs, strict=True):
        if NO_TOOL not in output:
            played.evidence(arena, output)
    assert_nothing_was_run(arena)
    assert cast("dict[str, int]", arena.link.call("ping"))["pid"] == pid
    arena.clear()
    arena.shell("rm -rf full full2 many /tmp/full /tmp/full2; echo wrong > report.txt")
    again = arena.judge((REPORT,))["report"]
    assert again.met is False, again


def judge_rounds(arena: Arena, trial: PlayedTrial, attacks: tuple[ShellAttack, ...]) -> list[str]:
    """Judge as often as the attacks want it, and until each met what it waits for; return what was met."""
    met: list[str] = []
    least = max(attack.rounds for attack in attacks)
    for number in range(1, MOST_ROUNDS + 1):
        met += trial.step()
        if number >= least and all(attack.has_met(arena) for attack in attacks):
            break
    return met


def play(arena: Arena, attack: ShellAttack) -> str:
    """Play an attack; return what it printed."""
    script = attack.script
    if script in {PRELOAD_KEPT, PRELOAD_RIGHT}:
        script = script.replace("LIBRARY", library())
    if attack.root:
        arena.machine.files.put(f"{arena.home}/attacks/fuse.py", FUSE.encode())
        arena.shell(f"cd {arena.home} && {attack.root}", user="root")
    if attack.goes_on:
        arena.background(script)
        return ""
    return arena.play(script)


def assert_nothing_was_run(arena: Arena) -> None:
    """Assert that nothing planted ran in an evaluator's process.

    What the dynamic linker wrote for the agent's own programs, which carry its environment, is no
    trace of ours.
    """
    assert "was-run" not in arena.shell("ls -a").split()
    assert not arena.shell("find . -maxdepth 1 -name 'was-run.*' ! -user \"$(id -un)\"")


@pytest.mark.parametrize("make", [desktop_trial, cross_trial])
def test_the_honest_way_to_what_is_attacked_is_met(
    field: Arena, make: Callable[..., PlayedTrial]
) -> None:
    """Without this, an evaluator that is never met would withstand everything."""
    arena = field
    ways = [way for way in honest_ways() if (way.family == CROSS) is (make is cross_trial)]
    for way in ways:
        arena.play(way.prepare)
    calls = tuple(call for way in ways for call in way.calls)
    trial = make(arena.machine, calls, wave_timeout_s=60.0)
    trial.begin()
    for way in ways:
        way.evidence(arena, arena.play(way.script))
    assert len(trial.step()) == len(calls)
    assert trial.judge().verdict is Verdict.PASS
