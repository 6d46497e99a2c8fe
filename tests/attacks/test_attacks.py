"""An agent with a shell tries to get a better verdict than it deserves; no attack may succeed.

Each attack runs as the agent's user on a desktop, first on the stand-in, then on the available
machines (`arenas`), in a trial that is judged like every trial. Afterwards no node is met, none is
undecided, and the verdict is FAIL. What the agent may do by honest means, such as changing a
setting, is not an attack.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from evaluators.graph.outcome import Verdict
from tests.attacks.calls import REPORT
from tests.attacks.cross.attacks import FAMILY as CROSS
from tests.attacks.model import MAX_ROUNDS, NO_TOOL, Group, ShellAttack
from tests.attacks.registry import honest_solutions, shell_cases
from tests.attacks.techniques import FUSE
from tests.attacks.trial import cross_trial, desktop_trial
from tests.attacks.windows.scripts import PRELOAD_GENUINE, PRELOAD_STORED, build_library

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.attacks.arenas import Arena
    from tests.attacks.trial import AttackTrial


@pytest.mark.parametrize("attack", shell_cases(), ids=lambda attack: attack.name)
def test_no_attack_meets_a_node_or_makes_the_trial_inconclusive(
    clean_arena: Arena, attack: ShellAttack | Group
) -> None:
    arena = clean_arena
    attacks = attack.attacks if isinstance(attack, Group) else (attack,)
    if any(member.fills_disk for member in attacks) and not arena.may_fill:
        pytest.skip("its disk is the host's")
    pid = cast("dict[str, int]", arena.link.call("ping"))["pid"]
    for member in attacks:
        arena.run_script(member.prepare)
    calls = tuple(call for member in attacks for call in member.calls)
    make = cross_trial if attack.family == CROSS else desktop_trial
    trial = make(
        arena.machine,
        calls,
        wave_timeout_s=attack.wave_timeout_s,
        also_required=attack.also_required,
    )
    trial.begin()
    outputs = [run_attack(arena, member) for member in attacks]
    if all(NO_TOOL in output for output in outputs):
        pytest.skip("this desktop, and so the agent, lacks the tool of this attack")
    for member, output in zip(attacks, outputs, strict=True):
        if NO_TOOL not in output:
            member.effect(arena, output)
    met = evaluate_rounds(arena, trial, attacks)
    judgement = trial.judge()
    assert (met, trial.met()) == ([], [])
    assert judgement.verdict is Verdict.FAIL, judgement.ending
    assert dict(trial.graph.inconclusive) == {}
    for member, output in zip(attacks, outputs, strict=True):
        if NO_TOOL not in output:
            member.evidence(arena, output)
    assert_no_planted_code_ran(arena)
    assert cast("dict[str, int]", arena.link.call("ping"))["pid"] == pid
    arena.kill_leftovers()
    arena.shell("rm -rf full full2 many /tmp/full /tmp/full2; echo wrong > report.txt")
    again = arena.judge((REPORT,))["report"]
    assert again.met is False, again


def evaluate_rounds(
    arena: Arena, trial: AttackTrial, attacks: tuple[ShellAttack, ...]
) -> list[str]:
    """Evaluate the nodes until all attacks have had their rounds and triggered.

    Returns:
        The evaluators that became met.
    """
    met: list[str] = []
    min_rounds = max(attack.rounds for attack in attacks)
    for number in range(1, MAX_ROUNDS + 1):
        met += trial.step()
        if number >= min_rounds and all(attack.has_triggered(arena) for attack in attacks):
            break
    return met


def run_attack(arena: Arena, attack: ShellAttack) -> str:
    """Run the script of an attack; return its output."""
    script = attack.script
    if script in {PRELOAD_GENUINE, PRELOAD_STORED}:
        script = script.replace("LIBRARY", build_library())
    if attack.root:
        arena.machine.files.put(f"{arena.home}/attacks/fuse.py", FUSE.encode())
        arena.shell(f"cd {arena.home} && {attack.root}", user="root")
    if attack.is_background:
        arena.background(script)
        return ""
    return arena.run_script(script)


def assert_no_planted_code_ran(arena: Arena) -> None:
    """Assert that no code planted by the agent ran in an evaluator's process.

    Files that the dynamic linker wrote for the agent's own programs, which inherit its environment,
    do not count.
    """
    assert "was-run" not in arena.shell("ls -a").split()
    # Attacks that race are still running: a name that is gone again is no finding of `find`.
    planted = "find . -maxdepth 1 -name 'was-run.*' ! -user \"$(id -un)\" 2>/dev/null || :"
    assert not arena.shell(planted)


@pytest.mark.parametrize("make", [desktop_trial, cross_trial])
def test_honest_solutions_are_met(clean_arena: Arena, make: Callable[..., AttackTrial]) -> None:
    """Without this, an evaluator that is never met would pass all tests."""
    arena = clean_arena
    solutions = [
        solution
        for solution in honest_solutions()
        if (solution.family == CROSS) is (make is cross_trial)
    ]
    for solution in solutions:
        arena.run_script(solution.prepare)
    calls = tuple(call for solution in solutions for call in solution.calls)
    trial = make(arena.machine, calls, wave_timeout_s=60.0)
    trial.begin()
    for solution in solutions:
        solution.evidence(arena, arena.run_script(solution.script))
    assert len(trial.step()) == len(calls)
    assert trial.judge().verdict is Verdict.PASS
