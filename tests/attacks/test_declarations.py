"""Attack declarations: complete, consistent, and the only reason why an attack is skipped."""

from __future__ import annotations

import ast
import importlib
from collections import Counter
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

from tests.attacks.arenas import ARENAS
from tests.attacks.conftest import pytest_itemcollected
from tests.attacks.model import (
    CONTAINER,
    MAX_ROUNDS,
    STAND_IN,
    VM,
    Group,
    ShellAttack,
    needs_no_trigger,
    no_evidence,
)
from tests.attacks.page import PAGE, render
from tests.attacks.registry import all_attacks, families, shell_cases
from tests.attacks.test_attacks import evaluate_rounds

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from tests.attacks.arenas import Arena
    from tests.attacks.trial import AttackTrial

MIN_ATTACKS = 60
MIN_ON_VMS, MAX_ON_VMS = 6, 9
"""In `make test`, whose VM lane has no time for more."""


def nightly_on(arena: str) -> set[str]:
    return {
        case.name
        for case in shell_cases()
        if any(mark.name == "nightly" for mark in case.marks(arena))
    }


def test_there_are_enough_attacks_and_names_are_unique() -> None:
    assert set(ARENAS) == {STAND_IN, VM, CONTAINER}
    assert len(all_attacks()) >= MIN_ATTACKS
    assert [
        name
        for name, count in Counter(attack.name for attack in all_attacks()).items()
        if count > 1
    ] == []
    assert {attack.family for attack in all_attacks()} == set(families())


def test_each_family_documents_its_threat_model_and_defences() -> None:
    for family in families():
        path = importlib.import_module(f"tests.attacks.{family}.attacks").__file__ or ""
        with open(path, encoding="utf-8") as file:  # noqa: PTH123
            doc = ast.get_docstring(ast.parse(file.read())) or ""
        assert doc.startswith("Threat model of "), family
        assert "Defences:" in doc, family


def test_most_attacks_run_on_the_stand_in_and_a_few_on_vms() -> None:
    only_nightly = {
        case.name for case in shell_cases() if isinstance(case, ShellAttack) and case.only_nightly
    }
    assert nightly_on(STAND_IN) == only_nightly
    assert len(only_nightly) < len(all_attacks()) / 10
    on_vms = [case.name for case in shell_cases() if case.name not in nightly_on(VM)]
    assert MIN_ON_VMS <= len(on_vms) <= MAX_ON_VMS, on_vms


def test_background_attacks_start_before_the_evaluation() -> None:
    """Otherwise, on a busy host, the evaluation could end before the attack starts."""
    background = [
        attack
        for attack in all_attacks()
        if isinstance(attack, ShellAttack) and attack.is_background
    ]
    assert [attack.name for attack in background if attack.effect is no_evidence] == []


def test_evaluation_repeats_until_each_attack_has_triggered() -> None:
    rounds_done: list[int] = []

    def step() -> list[str]:
        rounds_done.append(0)
        return ["met"]

    trial = SimpleNamespace(step=step)

    def evaluate_two(has_triggered: Callable[[Arena], bool]) -> list[str]:
        rounds_done.clear()
        attacks = [
            ShellAttack(
                name="",
                family="",
                script="",
                defence="",
                calls=(),
                rounds=number,
                has_triggered=trigger,
            )
            for number, trigger in ((1, has_triggered), (3, needs_no_trigger))
        ]
        return evaluate_rounds(cast("Arena", None), cast("AttackTrial", trial), tuple(attacks))

    assert len(evaluate_two(needs_no_trigger)) == len(rounds_done) == 3
    assert len(evaluate_two(lambda _arena: len(rounds_done) == 5)) == len(rounds_done) == 5
    assert len(evaluate_two(lambda _arena: False)) == len(rounds_done) == MAX_ROUNDS


def test_a_skipped_attack_has_a_reason() -> None:
    vm = frozenset({VM})
    attack = ShellAttack(
        name="some", family="x", script=":", defence="", calls=(), differs_on=vm, slow_on=vm
    )
    assert [mark.name for mark in attack.marks(VM)] == ["slow", "nightly"]
    (mark,) = attack.marks(CONTAINER)
    assert mark.args == ("the defence is the same as on the stand-in",)
    assert list(attack.marks(STAND_IN)) == []


def test_a_group_runs_where_any_of_its_attacks_must_run() -> None:
    vm = frozenset({VM})
    usual = ShellAttack(name="a", family="x", script=":", defence="", calls=())
    other = ShellAttack(
        name="b", family="x", script=":", defence="", calls=(), differs_on=vm, represents_on=vm
    )
    assert [mark.name for mark in Group("x", (usual,)).marks(VM)] == ["nightly"]
    assert list(Group("x", (usual, other)).marks(VM)) == []


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == render(), "run python -m tests.attacks.page"


def test_pytest_gets_the_marks() -> None:
    attack = next(
        attack
        for attack in shell_cases()
        if isinstance(attack, ShellAttack) and VM in attack.represents_on
    )
    other = next(
        other
        for other in shell_cases()
        if isinstance(other, ShellAttack) and not other.differs_on and not other.only_nightly
    )
    assert (marks_of(attack, VM), marks_of(other, VM)) == (set(attack_marks(attack)), {"nightly"})
    assert marks_of(other, STAND_IN) == set()


def attack_marks(attack: ShellAttack) -> list[str]:
    return [mark.name for mark in attack.marks(VM)]


def marks_of(attack: ShellAttack, arena: str) -> set[str]:
    """Return the names of the marks that this folder's hook adds to a test of an attack."""
    marks: set[str] = set()
    item = SimpleNamespace(
        callspec=SimpleNamespace(params={"attack": attack, "arena": arena}),
        add_marker=lambda mark: marks.add(mark.name),
    )
    pytest_itemcollected(cast("pytest.Item", item))
    return marks
