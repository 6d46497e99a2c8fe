"""libvirt's own test hypervisor reports what ends its domains, as QEMU's does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import libvirt
import pytest

from foundation.clock import SYSTEM_CLOCK, FakeClock
from foundation.errors import LinkTimeoutError
from provisioning.desktop.qemu.connection import Hypervisor
from provisioning.desktop.qemu.ending import SHUTDOWN_S, find_end
from provisioning.desktop.qemu.lifecycle import Lifecycle
from provisioning.protocols import End, EndCause

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator

    from provisioning.links.ssh import SshSession
    from provisioning.protocols import Json, Link

XML = """<domain type='test'><name>{}</name><memory>8192</memory>
<os><type>hvm</type></os></domain>"""
GUEST = End(EndCause.GUEST, "The guest shut down.")


@pytest.fixture
def hypervisor() -> Iterator[Hypervisor]:
    made = Hypervisor("test:///default")
    yield made
    made.close()


def test_destroyed_domain_ended_from_outside(hypervisor: Hypervisor) -> None:
    hypervisor.create(XML.format("one"))
    assert hypervisor.lifecycle.end_of("one") is None
    hypervisor.destroy("one")
    end = hypervisor.lifecycle.wait("one", 10, SYSTEM_CLOCK)
    assert end is not None
    assert end.cause is EndCause.OUTSIDE
    hypervisor.lifecycle.forget("one")
    assert hypervisor.lifecycle.end_of("one") is None


def test_nothing_is_reported_after_close(hypervisor: Hypervisor) -> None:
    hypervisor.create(XML.format("two"))
    hypervisor.close()
    hypervisor.destroy("two")
    hypervisor.close()
    other = Hypervisor("test:///default")
    assert other.state("two") == "stopped"
    other.close()


@dataclass
class Domain:
    """A stand-in for libvirt's domain in an event."""

    label: str

    def name(self) -> str:
        return self.label


@pytest.mark.parametrize(
    ("events", "cause"),
    [
        (["SHUTDOWN/SHUTDOWN_GUEST", "STOPPED/STOPPED_SHUTDOWN"], EndCause.GUEST),
        (["CRASHED/CRASHED_PANICKED", "STOPPED/STOPPED_CRASHED"], EndCause.GUEST),
        (["SHUTDOWN/SHUTDOWN_HOST", "STOPPED/STOPPED_SHUTDOWN"], EndCause.OUTSIDE),
        (["STOPPED/STOPPED_FAILED"], EndCause.OUTSIDE),
        (["PMSUSPENDED/PMSUSPENDED_MEMORY"], EndCause.GUEST),
        (["PMSUSPENDED/PMSUSPENDED_DISK"], EndCause.GUEST),
        (["STOPPED/STOPPED_SHUTDOWN"], EndCause.UNKNOWN),
        (["SHUTDOWN/SHUTDOWN_FINISHED", "STOPPED/STOPPED_DESTROYED"], EndCause.OUTSIDE),
    ],
)
def test_first_event_that_names_a_cause_counts(events: list[str], cause: EndCause) -> None:
    lifecycle = Lifecycle()
    for event in events:
        kind, detail = (getattr(libvirt, f"VIR_DOMAIN_EVENT_{name}") for name in event.split("/"))
        lifecycle._take(None, Domain("one"), kind, detail, None)
    end = lifecycle.end_of("one")
    assert end is not None
    assert end.cause is cause
    assert lifecycle.end_of("other") is None


def test_guest_that_restarts_itself_has_ended() -> None:
    lifecycle = Lifecycle()
    lifecycle._take_restart(None, Domain("one"), None)
    assert lifecycle.end_of("one") == End(EndCause.GUEST, "The guest restarted itself.")


class DeadLink:
    def call(self, op: str, params: object = None, *, timeout_s: float = 10.0) -> Json:
        raise LinkTimeoutError("no reply")

    def close(self) -> None:
        pass


class LiveLink:
    def call(self, op: str, params: object = None, *, timeout_s: float = 10.0) -> Json:
        return {}

    def close(self) -> None:
        pass


def end_of(hypervisor: Hypervisor, link: Link, clock: FakeClock) -> End | None:
    def login() -> SshSession:
        raise LinkTimeoutError("no login")

    return find_end(hypervisor, "test", lambda: link, login, user="user", clock=clock)


def test_responding_machine_has_not_ended(hypervisor: Hypervisor) -> None:
    clock = FakeClock()
    assert end_of(hypervisor, LiveLink(), clock) is None
    hypervisor.lifecycle.note("test", GUEST)
    assert end_of(hypervisor, LiveLink(), clock) == GUEST


def test_guest_shutting_down_is_waited_for(hypervisor: Hypervisor) -> None:
    class Slow(FakeClock):
        def wait(self, event: threading.Event, timeout_s: float) -> bool:
            self.advance(20)
            hypervisor.lifecycle.note("test", GUEST)
            return True

    clock = Slow()
    before_s = clock.now_s()
    assert end_of(hypervisor, DeadLink(), clock) == GUEST
    assert clock.now_s() - before_s == 20


def test_running_but_unresponsive_machine_has_not_ended(
    hypervisor: Hypervisor,
) -> None:
    clock = FakeClock()
    before_s = clock.now_s()
    assert end_of(hypervisor, DeadLink(), clock) is None
    assert clock.now_s() - before_s == SHUTDOWN_S


def test_unresponsive_machine_whose_kernel_reports_its_end_was_ended_by_the_guest(
    hypervisor: Hypervisor,
) -> None:
    def login() -> SshSession:
        raise LinkTimeoutError("no login")

    end = find_end(
        hypervisor,
        "test",
        DeadLink,
        login,
        user="user",
        clock=FakeClock(),
        read_console=lambda: "the guest's kernel ran out of memory",
    )
    detail = "The probe does not answer: the guest's kernel ran out of memory."
    assert end == End(EndCause.GUEST, detail)


def test_console_counts_since_the_last_start_or_rewind() -> None:
    lifecycle = Lifecycle()
    assert lifecycle.console_of("one") is None
    lifecycle.forget("one")
    assert lifecycle.console_of("one") == 0
    lifecycle.forget("one", console_bytes=99)
    assert lifecycle.console_of("one") == 99


def test_machine_gone_without_a_report_has_an_unknown_cause(hypervisor: Hypervisor) -> None:
    end = find_end(
        hypervisor,
        "gone",
        LiveLink,
        lambda: pytest.fail("nobody to log in to"),
        user="user",
        clock=FakeClock(),
    )
    assert end is not None
    assert end.cause is EndCause.UNKNOWN
