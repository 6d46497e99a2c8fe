"""What attacks declare, and that nothing else keeps one from being played."""

from __future__ import annotations

import re
import sys

import pytest

from appliance.base import process
from appliance.base.settings import REPOSITORY
from tests.contract.arenas import ARENAS
from tests.contract.attacks import ATTACKS, CONTAINER, STAND_IN, VM, Attack
from tests.tiers import TIER


def nightly_on(place: str) -> set[str]:
    return {
        attack.name
        for attack in ATTACKS
        if any(mark.name == "nightly" for mark in attack.marks(place))
    }


def test_places_are_arenas_and_names_are_unique() -> None:
    assert set(ARENAS) == {STAND_IN, VM, CONTAINER}
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)


def test_the_stand_in_plays_every_attack_and_machines_what_differs_there() -> None:
    assert nightly_on(STAND_IN) == set()
    for place in (VM, CONTAINER):
        assert nightly_on(place) == {a.name for a in ATTACKS if place not in a.differs_on}


def test_an_attack_is_left_out_with_a_reason() -> None:
    attack = Attack(name="some", script=":", differs_on=frozenset({VM}), slow_on=frozenset({VM}))
    assert [mark.name for mark in attack.marks(VM)] == ["slow"]
    (mark,) = attack.marks(CONTAINER)
    assert (mark.name, mark.args) == (
        "nightly",
        ("what stands against it is the same as on the stand-in",),
    )


@pytest.mark.parametrize("tier", ["", "nightly"])
def test_pytest_plays_what_attacks_declare(tier: str) -> None:
    argv = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    result = process.run(
        [*argv, "tests/contract/test_red_team.py"], cwd=REPOSITORY, env={TIER: tier}, timeout_s=120
    )
    played = re.findall(r"no_attack_turns\w+\[([\w-]+?)-([^\]]+)\]", result.require().text)
    for place in ARENAS:
        names = {attack.name for attack in ATTACKS} - (set() if tier else nightly_on(place))
        # Names hold hyphens, as places do.
        assert {f"{a}-{b}" for a, b in played if f"{a}-{b}".startswith(place)} == {
            f"{place}-{name}" for name in names
        }
