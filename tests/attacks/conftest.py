from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.attacks.arenas import ARENAS
from tests.attacks.model import Group, ShellAttack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.attacks.arenas import Arena


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark an attack's test as the attack declares for the machine it is played on."""
    params = item.callspec.params if hasattr(item, "callspec") else {}
    attack = params.get("attack")
    if isinstance(attack, ShellAttack | Group):
        for mark in attack.marks(params["arena"]):
            item.add_marker(mark)


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=list(marks)) for name, (_, marks) in ARENAS.items()],
)
def arena(request: pytest.FixtureRequest) -> Iterator[Arena]:
    """Make each desktop once a module; whoever keeps one longer keeps it from other tests."""
    make, _ = ARENAS[request.param]
    with make() as made:
        yield made


@pytest.fixture
def field(arena: Arena) -> Iterator[Arena]:
    """Return the arena without what the red team made before: rewound, or taken away by hand."""
    if arena.back is not None:
        arena.back()
        yield arena
        return
    arena.keep()
    yield arena
    arena.clear()
    arena.restore()
