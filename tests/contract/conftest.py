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
    """Make each machine once a module, so that other modules need no further one."""
    make, _ = IMPLEMENTATIONS[request.param]
    with make() as subject:
        snapshots = subject.machine.snapshots
        if subject.base not in snapshots.list_snapshots():
            snapshots.save(subject.base)
        yield subject


@pytest.fixture(scope="session")
def last_class() -> dict[str, object]:
    """Remember where a machine that is slow to reset was reset last."""
    return {}


@pytest.fixture
def subject(
    implementation: Subject, request: pytest.FixtureRequest, last_class: dict[str, object]
) -> Subject:
    """Return the machine as it was when it was made, or as the tests of the same class left it."""
    machine_id = implementation.machine.info.machine_id
    is_used_here = last_class.get(machine_id) is request.cls
    if not (implementation.is_slow_to_reset and is_used_here):
        implementation.machine.snapshots.rewind(implementation.base)
    last_class[machine_id] = request.cls
    return implementation
