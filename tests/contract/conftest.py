from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.contract.machines import IMPLEMENTATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.contract.machines import Subject


LONG = "MESOCOSM_TEST_LONG"
# What nothing of a VM's own can change; there each takes half a minute under emulation.
ELSEWHERE = (
    "telling titles as",
    "telling titles by",
    "mounts of one's own",
    "connection handed down",
)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave some attacks on VMs to whoever asks for them by `MESOCOSM_TEST_LONG`."""
    if os.environ.get(LONG):
        return
    left = [
        item
        for item in items
        if "libvirt-desktop-" in item.name and any(words in item.name for words in ELSEWHERE)
    ]
    config.hook.pytest_deselected(items=left)
    items[:] = [item for item in items if item not in left]


@pytest.fixture(
    scope="session",
    params=[pytest.param(name, marks=list(marks)) for name, (_, marks) in IMPLEMENTATIONS.items()],
)
def implementation(request: pytest.FixtureRequest) -> Iterator[Subject]:
    """Make each machine once."""
    make, _ = IMPLEMENTATIONS[request.param]
    with make() as subject:
        if subject.saves:
            subject.machine.snapshots.save(subject.base)
        yield subject


@pytest.fixture(scope="session")
def last_class() -> dict[str, object]:
    """Remember where a machine that is slow to reset was reset last."""
    return {}


@pytest.fixture
def subject(
    implementation: Subject, request: pytest.FixtureRequest, last_class: dict[str, object]
) -> Subject:
    """Give the machine as it was when it was made, or as the tests of the same class left it."""
    machine_id = implementation.machine.info.machine_id
    is_used_here = last_class.get(machine_id) is request.cls
    if not (implementation.is_slow_to_reset and is_used_here):
        implementation.machine.snapshots.rewind(implementation.base)
    last_class[machine_id] = request.cls
    return implementation
