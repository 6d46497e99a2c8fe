"""What attacks declare, and that nothing else keeps one from being played."""

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
    MOST_ROUNDS,
    STAND_IN,
    VM,
    Group,
    ShellAttack,
    none_needed,
    waits_for_nothing,
)
from tests.attacks.page import PAGE, render
from tests.attacks.registry import all_attacks, families, rounds
from tests.attacks.test_attacks import judge_rounds

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from tests.attacks.arenas import Arena
    from tests.attacks.trial import PlayedTrial

LEAST = 60
LEAST_ON_VMS, MOST_ON_VMS = 6, 9
"""The lane of VMs has no time for more in a landing."""


def nightly_on(place: str) -> set[str]:
    return {
        attack.name
        for attack in rounds()
        if any(mark.name == "nightly" for mark in attack.marks(place))
    }


def test_there_are_enough_and_names_are_unique() -> None:
    assert set(ARENAS) == {STAND_IN, VM, CONTAINER}
    assert len(all_attacks()) >= LEAST
    assert [
        name
        for name, count in Counter(attack.name for attack in all_attacks()).items()
        if count > 1
    ] == []
    assert {attack.family for attack in all_attacks()} == set(families())


def test_each_family_says_what_an_agent_can_do_and_what_stands_against_it() -> None:
    for family in families():
        path = importlib.import_module(f"tests.attacks.{family}.attacks").__file__ or ""
        with open(path, encoding="utf-8") as file:  # noqa: PTH123
            doc = ast.get_docstring(ast.parse(file.read())) or ""
        assert doc.startswith("Threat model of "), family
        assert "What stands against it" in " ".join(doc.split()), family


def test_the_stand_in_plays_nearly_all_and_vms_a_few() -> None:
    left = {
        attack.name
        for attack in rounds()
        if isinstance(attack, ShellAttack) and attack.only_nightly
    }
    assert nightly_on(STAND_IN) == left
    assert len(left) < len(all_attacks()) / 10
    played = [attack for attack in rounds() if attack.name not in nightly_on(VM)]
    assert LEAST_ON_VMS <= len(played) <= MOST_ON_VMS, [attack.name for attack in played]


def test_an_attack_that_goes_on_has_begun_before_it_is_judged() -> None:
    """Else it plays against nobody on a busy host, or not at all."""
    going_on = [
        attack for attack in all_attacks() if isinstance(attack, ShellAttack) and attack.goes_on
    ]
    assert [attack.name for attack in going_on if attack.effect is none_needed] == []


def test_it_is_judged_until_each_attack_met_what_it_waits_for() -> None:
    rounds_done: list[int] = []

    def step() -> list[str]:
        rounds_done.append(0)
        return ["met"]

    trial = SimpleNamespace(step=step)

    def judge_two(has_met: Callable[[Arena], bool]) -> list[str]:
        rounds_done.clear()
        attacks = [
            ShellAttack(
                name="", family="", script="", defence="", calls=(), rounds=number, has_met=met
            )
            for number, met in ((1, has_met), (3, waits_for_nothing))
        ]
        return judge_rounds(cast("Arena", None), cast("PlayedTrial", trial), tuple(attacks))

    assert len(judge_two(waits_for_nothing)) == len(rounds_done) == 3
    assert len(judge_two(lambda _arena: len(rounds_done) == 5)) == len(rounds_done) == 5
    assert len(judge_two(lambda _arena: False)) == len(rounds_done) == MOST_ROUNDS


def test_an_attack_is_left_out_with_a_reason() -> None:
    vm = frozenset({VM})
    attack = ShellAttack(
        name="some", family="x", script=":", defence="", calls=(), differs_on=vm, slow_on=vm
    )
    assert [mark.name for mark in attack.marks(VM)] == ["slow", "nightly"]
    (mark,) = attack.marks(CONTAINER)
    assert mark.args == ("what stands against it is the same as on the stand-in",)
    assert list(attack.marks(STAND_IN)) == []


def test_a_group_is_played_where_one_of_it_must_be() -> None:
    vm = frozenset({VM})
    usual = ShellAttack(name="a", family="x", script=":", defence="", calls=())
    other = ShellAttack(
        name="b", family="x", script=":", defence="", calls=(), differs_on=vm, represents_on=vm
    )
    assert [mark.name for mark in Group("x", (usual,)).marks(VM)] == ["nightly"]
    assert list(Group("x", (usual, other)).marks(VM)) == []


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == render(), "run python -m tests.attacks.page"


def test_the_marks_reach_pytest() -> None:
    attack = next(
        attack
        for attack in rounds()
        if isinstance(attack, ShellAttack) and VM in attack.represents_on
    )
    other = next(
        other
        for other in rounds()
        if isinstance(other, ShellAttack) and not other.differs_on and not other.only_nightly
    )
    assert (marks_of(attack, VM), marks_of(other, VM)) == (set(attack_marks(attack)), {"nightly"})
    assert marks_of(other, STAND_IN) == set()


def attack_marks(attack: ShellAttack) -> list[str]:
    return [mark.name for mark in attack.marks(VM)]


def marks_of(attack: ShellAttack, place: str) -> set[str]:
    """Return the names of the marks that the hook of this folder adds to a test of an attack."""
    marks: set[str] = set()
    item = SimpleNamespace(
        callspec=SimpleNamespace(params={"attack": attack, "arena": place}),
        add_marker=lambda mark: marks.add(mark.name),
    )
    pytest_itemcollected(cast("pytest.Item", item))
    return marks
