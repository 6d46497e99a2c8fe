"""Health checks of a machine before it is leased."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from foundation.clock import SYSTEM_CLOCK
from foundation.errors import LinkProtocolError, MesocosmError
from provisioning.protocols import is_machine
from provisioning.registry import registry

if TYPE_CHECKING:
    from collections.abc import Callable

    from foundation.clock import Clock
    from provisioning.protocols import Machine, Resource

MAX_CLOCK_OFF_S = 0.5
MAX_PING_S = 2.0
MIN_FREE_MIB = 64


@dataclass(frozen=True, slots=True)
class Health:
    """The result of one check.

    Attributes:
        name: name of the check.
        ok: whether it passed.
        detail: one line.
    """

    name: str
    ok: bool
    detail: str


def check(machine: Resource, *, clock: Clock = SYSTEM_CLOCK) -> list[Health]:
    """Check link, clock, screen and disk; a check that cannot be performed counts as failed.

    Of a resource that no agent acts on, check only whether it runs.

    Args:
        machine: a running machine or other resource that the caller holds.
        clock: reference for the machine's clock.
    """
    if not is_machine(machine):
        is_running = machine.power.is_running()
        return [Health("power", is_running, "it runs" if is_running else "it does not run")]
    checks: dict[str, Callable[[], Health]] = {
        "link": lambda: _check_link(machine, clock),
        "clock": lambda: _check_clock(machine, clock),
        "screen": lambda: _check_screen(machine),
    }
    if registry().kind(machine.info.kind).runs_probe:
        checks["disk"] = lambda: _check_disk(machine)
    findings = []
    for name, look in checks.items():
        try:
            findings.append(look())
        except MesocosmError as exc:
            findings.append(Health(name, ok=False, detail=exc.brief))
    return findings


def _check_link(machine: Machine, clock: Clock) -> Health:
    start_s = clock.monotonic_s()
    machine.link.call("ping", timeout_s=MAX_PING_S)
    seconds = clock.monotonic_s() - start_s
    return Health("link", ok=True, detail=f"answers after {seconds * 1000:.1f} ms")


def _check_clock(machine: Machine, clock: Clock) -> Health:
    before_s = clock.now_s()
    reply = machine.link.call("ping", timeout_s=MAX_PING_S)
    after_s = clock.now_s()
    if not isinstance(reply, dict) or not isinstance(reply.get("clock_s"), float):
        raise LinkProtocolError("The probe's reply does not contain the time.")
    shown_s = float(str(reply["clock_s"]))
    off_s = max(before_s - shown_s, shown_s - after_s, 0.0)
    return Health("clock", off_s <= MAX_CLOCK_OFF_S, f"{off_s:.3f} s off the host's")


def _check_screen(machine: Machine) -> Health:
    frame = machine.screen.capture()
    height, width, _ = frame.shape
    is_blank = bool(np.all(frame == frame[0, 0]))
    content = "a single color" if is_blank else "not blank"
    return Health("screen", not is_blank, f"{width} x {height} px, {content}")


def _check_disk(machine: Machine) -> Health:
    reply = machine.link.call("exec", {"argv": ["/bin/df", "-m", "--output=avail", "/"]})
    if not isinstance(reply, dict):
        raise LinkProtocolError("The probe's reply does not contain the free space.")
    fields = base64.b64decode(str(reply["stdout_b64"])).decode().split()
    free_mib = int(fields[-1]) if fields and fields[-1].isdigit() else 0
    return Health("disk", free_mib >= MIN_FREE_MIB, f"{free_mib} MiB free")
