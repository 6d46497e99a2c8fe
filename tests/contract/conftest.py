from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.contract.machines import IMPLEMENTATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.contract.machines import Subject


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=list(marks)) for name, (_, marks) in IMPLEMENTATIONS.items()],
)
def implementation(request: pytest.FixtureRequest) -> Iterator[Subject]:
    """Create each machine once per module, so that other modules need no additional one."""
    make, _ = IMPLEMENTATIONS[request.param]
    with make() as subject:
        snapshots = subject.machine.snapshots
        if subject.base not in snapshots.list_snapshots():
            snapshots.save(subject.base)
        yield subject


@pytest.fixture(scope="session")
def last_class() -> dict[str, object]:
    """Return the test class in which each machine that is slow to reset was last reset."""
    return {}


@pytest.fixture
def subject(
    implementation: Subject, request: pytest.FixtureRequest, last_class: dict[str, object]
) -> Subject:
    """Return the machine in its initial state, or as the tests of the same class left it."""
    machine_id = implementation.machine.info.machine_id
    is_used_here = last_class.get(machine_id) is request.cls
    if not (implementation.is_slow_to_reset and is_used_here):
        implementation.machine.snapshots.rewind(implementation.base)
    last_class[machine_id] = request.cls
    return implementation
