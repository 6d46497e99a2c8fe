from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.attacks.arenas import ARENAS
from tests.attacks.model import Group, ShellAttack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.attacks.arenas import Arena


def pytest_itemcollected(item: pytest.Item) -> None:
    """Add the marks that an attack declares for the arena that its test runs in."""
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
    """Create each desktop once per module; keeping it longer would block it for other tests."""
    make, _ = ARENAS[request.param]
    with make() as made:
        yield made


@pytest.fixture
def clean_arena(arena: Arena) -> Iterator[Arena]:
    """Return the arena without traces of earlier attacks: rewound, or cleaned up file by file."""
    if arena.rewind is not None:
        arena.rewind()
        yield arena
        return
    arena.save_home()
    yield arena
    arena.kill_leftovers()
    arena.restore_home()
