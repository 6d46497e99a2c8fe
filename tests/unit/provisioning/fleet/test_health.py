from __future__ import annotations

import base64
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest

from foundation.clock import FakeClock
from foundation.errors import LinkTimeoutError
from provisioning.fake import FakeDesktop
from provisioning.fleet.health import check

if TYPE_CHECKING:
    from provisioning.protocols import Json, Machine


class Link:
    """Returns given replies."""

    def __init__(self, clock_s: float, free_mib: int) -> None:
        self.clock_s = clock_s
        self.free_mib = free_mib
        self.is_dead = False

    def call(self, op: str, _params: Json = None, *, timeout_s: float = 10.0) -> Json:
        if self.is_dead:
            raise LinkTimeoutError(f"no answer to {op} within {timeout_s:g} s")
        if op == "ping":
            return {"clock_s": self.clock_s}
        output = f"Avail\n{self.free_mib}\n".encode()
        return {"stdout_b64": base64.b64encode(output).decode()}


class Sick:
    """An in-memory desktop with a given link and screen."""

    def __init__(self, link: Link) -> None:
        self.info = FakeDesktop().info
        self.link = link
        self.screen = self
        self.frame = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)

    def capture(self) -> object:
        return self.frame


NOW_S = FakeClock().now_s()


def verdicts(machine: Sick) -> dict[str, bool]:
    results = check(cast("Machine", machine), clock=FakeClock())
    return {health.name: health.ok for health in results}


def test_healthy_machine_passes_all_checks() -> None:
    assert verdicts(Sick(Link(NOW_S + 0.4, 64))) == dict.fromkeys(
        ("link", "clock", "screen", "disk"), True
    )


@pytest.mark.parametrize(
    ("link", "failed"),
    [(Link(NOW_S - 0.6, 64), "clock"), (Link(NOW_S + 0.6, 64), "clock"), (Link(NOW_S, 63), "disk")],
)
def test_each_problem_fails_its_own_check(link: Link, failed: str) -> None:
    assert [name for name, ok in verdicts(Sick(link)).items() if not ok] == [failed]


def test_blank_screen_fails_the_screen_check() -> None:
    machine = Sick(Link(NOW_S, 64))
    machine.frame = np.full((4, 4, 3), 7, dtype=np.uint8)
    assert not verdicts(machine)["screen"]


def test_dead_link_fails_only_checks_that_need_it() -> None:
    link = Link(NOW_S, 64)
    link.is_dead = True
    assert verdicts(Sick(link)) == {"link": False, "clock": False, "screen": True, "disk": False}
