"""All attacks: those of each folder next to this module, in a fixed order."""

from __future__ import annotations

import importlib
from functools import cache
from itertools import groupby
from pathlib import Path

from tests.attacks.model import Attack, Group, ShellAttack

FOLDER = Path(__file__).parent


@cache
def families() -> tuple[str, ...]:
    """Return the names of the folders."""
    return tuple(sorted(path.parent.name for path in FOLDER.glob("*/attacks.py")))


@cache
def all_attacks() -> tuple[Attack, ...]:
    """Return the attacks of every family."""
    attacks: list[Attack] = []
    for family in families():
        attacks += importlib.import_module(f"tests.attacks.{family}.attacks").ATTACKS
    return tuple(attacks)


@cache
def honest_solutions() -> tuple[ShellAttack, ...]:
    """Return the honest solutions for the targets of every family, which must be met."""
    solutions: list[ShellAttack] = []
    for family in families():
        module = importlib.import_module(f"tests.attacks.{family}.attacks")
        solutions += getattr(module, "HONEST", ())
    return tuple(solutions)


@cache
def shell_cases() -> tuple[ShellAttack | Group, ...]:
    """Return the test cases of shell attacks: a single attack, or the isolated ones of a family.

    Attacks that `make test` runs on machines are in separate groups, so that it runs no others
    there.
    """
    shells = [attack for attack in all_attacks() if isinstance(attack, ShellAttack)]
    isolated = [attack for attack in shells if attack.is_isolated]
    ordered = sorted(isolated, key=lambda attack: (attack.family, sorted(attack.represents_on)))
    groups = [
        Group(family, tuple(attacks))
        for (family, _), attacks in groupby(
            ordered, lambda attack: (attack.family, sorted(attack.represents_on))
        )
    ]
    return (*groups, *(attack for attack in shells if not attack.is_isolated))
