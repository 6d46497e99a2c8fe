from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.contract.machines import IMPLEMENTATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.contract.machines import Subject


@pytest.fixture(
    scope="session",
    params=[pytest.param(name, marks=list(marks)) for name, (_, marks) in IMPLEMENTATIONS.items()],
)
def implementation(request: pytest.FixtureRequest) -> Iterator[Subject]:
    """Make each machine once."""
    make, _ = IMPLEMENTATIONS[request.param]
    with make() as subject:
        subject.machine.snapshots.save("contract")
        yield subject


@pytest.fixture
def subject(implementation: Subject) -> Subject:
    """Give the machine as it was when it was made."""
    implementation.machine.snapshots.rewind("contract")
    return implementation
