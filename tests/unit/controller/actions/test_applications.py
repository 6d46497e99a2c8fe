from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from controller.actions.applications import start_and_wait
from foundation.clock import FakeClock
from foundation.errors import GuestCallError
from provisioning.fake import FakeDesktop

if TYPE_CHECKING:
    from collections.abc import Mapping

    from provisioning.protocols import Json, Link


class SlowLink:
    """A link to a desktop whose programs show their windows only after several queries."""

    def __init__(self, link: Link, clock: FakeClock, shows_after_s: float) -> None:
        self._link = link
        self._clock = clock
        self._shows_after_s = shows_after_s
        self._due: tuple[float, Mapping[str, Json]] | None = None

    def call(
        self, op: str, params: Mapping[str, Json] | None = None, *, timeout_s: float = 10.0
    ) -> Json:
        if op == "open_app" and params is not None:
            self._due = (self._clock.monotonic_s() + self._shows_after_s, params)
            return {"id": "org.gnome.Terminal", "name": "Terminal"}
        if self._due is not None and self._clock.monotonic_s() >= self._due[0]:
            self._link.call("open_app", self._due[1], timeout_s=1.0)
            self._due = None
        return self._link.call(op, params or {}, timeout_s=timeout_s)

    def close(self) -> None:
        self._link.close()


class SlowDesktop(FakeDesktop):
    """A desktop with such a link."""

    def __init__(self, clock: FakeClock, shows_after_s: float) -> None:
        super().__init__(clock=clock)
        self.slow = SlowLink(super().link, clock, shows_after_s)

    @property
    def link(self) -> SlowLink:  # type: ignore[override]
        return self.slow


@pytest.mark.parametrize(("shows_after_s", "waits_s"), [(0.0, 0.0), (12.0, 12.0), (90.0, 30.0)])
def test_waits_for_the_window_up_to_a_limit(shows_after_s: float, waits_s: float) -> None:
    clock = FakeClock()
    desktop = SlowDesktop(clock, shows_after_s)
    start_s = clock.monotonic_s()
    start_and_wait(desktop, "Terminal", clock)
    assert clock.monotonic_s() - start_s == pytest.approx(waits_s, abs=0.3)


def test_program_already_in_front_is_not_waited_for_long() -> None:
    clock = FakeClock()
    desktop = FakeDesktop(clock=clock)
    start_and_wait(desktop, "Terminal", clock)
    start_s = clock.monotonic_s()
    start_and_wait(desktop, "Terminal", clock)
    assert clock.monotonic_s() - start_s < 5.0


def test_missing_application_is_reported() -> None:
    with pytest.raises(GuestCallError, match="Nothing"):
        start_and_wait(FakeDesktop(), "Nothing", FakeClock())
