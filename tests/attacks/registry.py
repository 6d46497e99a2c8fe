"""All attacks: those of each folder beside this module, in a fixed order."""

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
def honest_ways() -> tuple[ShellAttack, ...]:
    """Return the honest ways to the targets of every family, which must be met."""
    ways: list[ShellAttack] = []
    for family in families():
        ways += getattr(importlib.import_module(f"tests.attacks.{family}.attacks"), "HONEST", ())
    return tuple(ways)


@cache
def rounds() -> tuple[ShellAttack | Group, ...]:
    """Return what is played in shells at a time: an attack alone, or those of a family that stay apart.

    Those that a landing plays on machines are a group of their own, so that it plays no others there.
    """
    shells = [attack for attack in all_attacks() if isinstance(attack, ShellAttack)]
    apart = [attack for attack in shells if attack.is_apart]
    ordered = sorted(apart, key=lambda attack: (attack.family, sorted(attack.represents_on)))
    groups = [
        Group(family, tuple(attacks))
        for (family, _), attacks in groupby(
            ordered, lambda attack: (attack.family, sorted(attack.represents_on))
        )
    ]
    return (*groups, *(attack for attack in shells if not attack.is_apart))
