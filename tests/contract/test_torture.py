"""Tests that resets are exact after destructive acts; see torture.py for acts and resets."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest

from foundation.clock import wait_until
from foundation.errors import LinkError
from provisioning.reset.digests import take_digest
from provisioning.reset.picture import Picture
from tests.contract.clocks import CLOCK_TOLERANCE_S, clock_off_s
from tests.contract.torture import ACTS, ROUNDS, SUBJECTS
from tests.tiers import nightly

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _pytest.mark.structures import ParameterSet

    from provisioning.protocols import Json, Machine
    from tests.contract.torture import Act, Tortured

DRAWN_S = 20.0
"""Timeout for a change on the screen or the start of many processes, also under emulation."""


IN_A_LANDING = {"vm-fork": {"things of every kind"}}
"""Rounds that `make test` runs, if not all: a fork that ends discards all changes."""


def _cases() -> Iterator[ParameterSet]:
    for name, (_, marks) in SUBJECTS.items():
        for title in ROUNDS:
            is_now = title in IN_A_LANDING.get(name, ROUNDS)
            left = [] if is_now else [nightly("`make test` runs them on a VM that is rewound")]
            yield pytest.param(name, title, marks=[*marks, *left], id=f"{name}-{title}")


@pytest.fixture(scope="module")
def tortured(request: pytest.FixtureRequest) -> Iterator[Tortured]:
    """Return a desktop, which each test resets at its end."""
    make, _ = SUBJECTS[request.param]
    with make() as subject:
        yield subject


def sh(machine: Machine, command: str, user: str) -> tuple[int, str]:
    """Run a command in the guest and return its exit code and output."""
    params: dict[str, Json] = {"argv": ["/bin/sh", "-c", command], "user": user, "timeout_s": 60.0}
    reply = cast("dict[str, Json]", machine.link.call("exec", params, timeout_s=65.0))
    output = base64.b64decode(str(reply["stdout_b64"])) + base64.b64decode(str(reply["stderr_b64"]))
    return int(cast("int", reply["exit_code"])), output.decode(errors="replace")


def is_seen(machine: Machine, act: Act) -> bool:
    """Return whether an act's trace exists; an unresponsive machine counts as a trace."""
    try:
        return sh(machine, act.trace, act.user)[0] == 0
    except LinkError:
        if act.breaks:
            return True
        raise


def becomes(machine: Machine, act: Act, *, seen: bool) -> bool:
    """Wait until an act's trace exists or is gone; return False on timeout."""
    return bool(wait_until(lambda: is_seen(machine, act) is seen, timeout_s=DRAWN_S))


def commit(machine: Machine, act: Act, limits: str) -> tuple[int, str]:
    try:
        return sh(machine, f"{limits} {act.command}", act.user)
    except LinkError as exc:
        if act.breaks:
            return 0, str(exc)
        raise


def look(machine: Machine) -> Picture:
    """Return the current screen without a mask."""
    frame = machine.screen.capture()
    return Picture(frame, np.ones(frame.shape[:2], dtype=np.bool_))


@pytest.mark.parametrize(
    ("tortured", "title"), tuple(_cases()), indirect=["tortured"], scope="module"
)
def test_reset_reverts_every_act(tortured: Tortured, title: str) -> None:
    machine, acts = tortured.machine, ROUNDS[title]
    before, picture = take_digest(machine.link), look(machine)
    assert [act.name for act in acts if is_seen(machine, act)] == []

    for act in acts:
        code, output = commit(machine, act, tortured.limits)
        is_refused = act.name in tortured.refuses
        assert becomes(machine, act, seen=not is_refused), (act.name, code, output)
        assert (code != 0) is is_refused or act.breaks, (act.name, output)
    wanted = {act.differs for act in acts if act.differs}
    if wanted:
        differences: list[str] = []

        def is_named() -> bool:
            differences[:] = before.differences(take_digest(machine.link))
            differences.extend(picture.differences(machine.screen.capture()))
            return all(any(re.search(pattern, line) for line in differences) for pattern in wanted)

        assert wait_until(is_named, timeout_s=DRAWN_S), (wanted, differences)

    report = tortured.reset()
    machine = tortured.machine
    assert report.differences == ()
    assert before.differences(take_digest(machine.link)) == ()
    assert [act.name for act in acts if is_seen(machine, act)] == []
    assert clock_off_s(machine) < CLOCK_TOLERANCE_S


def test_every_act_is_in_one_round() -> None:
    assert sorted(act.name for acts in ROUNDS.values() for act in acts) == sorted(
        act.name for act in ACTS
    )
