"""Verifies on this host what the emulator's provider promises: with phones of its own, which it removes."""

from __future__ import annotations

import statistics
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from appliance.verify.phone import Finding, PhoneUnderTest, verify_phone
from appliance.verify.phone_checks import CHECKS
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import MachineError, MesocosmError
from images.android.recipe import AndroidRecipe
from images.builder import Builder
from provisioning.fleet.host_backends import HostBackends
from provisioning.protocols import READY
from provisioning.resource import PHONE, ResourceSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from foundation.clock import Clock
    from foundation.settings import Settings
    from provisioning.handle import MachineHandle
    from provisioning.phone.reference.backend import PhoneBackend
    from provisioning.phone.reference.machine import ReferencePhone

_REWINDS, _QUICK_REWINDS = 20, 3
_MAX_CLOCK_S = 5.0
_MAX_STOP_S = 31.0
_MARKER = "getprop debug.mesocosm.saved"


class EmulatorVerification:
    """The checks, in order; what needs a phone is skipped if there is none.

    Args:
        settings: choose the emulator as kind of phone.
        tick: called with each finding.
        is_quick: repeat less.
        clock: measures.
    """

    def __init__(
        self,
        settings: Settings,
        tick: Callable[[Finding], None] = lambda _finding: None,
        *,
        is_quick: bool = False,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._settings = settings
        self._tick = tick
        self._is_quick = is_quick
        self._clock = clock
        self.findings: list[Finding] = []

    def run(self) -> list[Finding]:
        """Run all checks, and remove the phones that they made."""
        builder = Builder(self._settings)
        recipe = builder.make("android", self._settings)
        if isinstance(recipe, AndroidRecipe):
            for name, require in recipe.requirements().items():
                self.check(name, "The host meets the requirement.", require)
        if not self.check("image", "The image is built.", lambda: builder.find("android").label):
            return self.findings
        if isinstance(recipe, AndroidRecipe):
            base = builder.find("base").tag or ""
            self.check("container", "The phone's user can open KVM.", lambda: recipe.try_kvm(base))
        handles: list[MachineHandle[ReferencePhone]] = []
        try:
            if self.check("start", "It resumes its saved state.", lambda: self._make(handles)):
                self._verify(handles[0].machine)
                if not self._is_quick:
                    self.check("two", "Two phones do not interfere.", lambda: self._pair(handles))
        finally:
            for handle in handles:
                handle.delete()
        return self.findings

    def check(self, name: str, what: str, run: Callable[[], str]) -> bool:
        """Run one check, which returns a note or raises MesocosmError; return whether it passed."""
        start_s = self._clock.monotonic_s()
        try:
            message, state = run(), "pass"
        except MesocosmError as exc:
            message = " ".join(filter(None, (exc.brief, exc.details, exc.resolution)))
            state = "fail"
        seconds = self._clock.monotonic_s() - start_s
        finding = Finding(name, what, "pass" if state == "pass" else "fail", seconds, message)
        self.findings.append(finding)
        self._tick(finding)
        return state == "pass"

    def _verify(self, phone: ReferencePhone) -> None:
        self.check("conformance", "It does what Android does.", lambda: _conformance(phone))
        self.check("save", "A snapshot is saved, listed and deleted.", lambda: _save(phone))
        self.check("rewind", "Rewinds are exact.", lambda: self._rewind(phone))
        self.check("clock", "A rewound phone shows the time.", lambda: self._read_clock(phone))
        self.check("picture", "A rewound phone shows a picture.", lambda: _picture(phone))
        self.check("stop", "It stops in time, and starts again.", lambda: self._restart(phone))

    def _make(self, handles: list[MachineHandle[ReferencePhone]]) -> str:
        backend: PhoneBackend = HostBackends(self._settings).of(ResourceSpec(PHONE))  # type: ignore[assignment]
        handles.append(backend.make(lambda _message: None))
        marker = handles[-1].machine.shell(_MARKER).text
        if not marker:
            raise MachineError("The phone has lost the marker of its saved state: it started cold.")
        return f"resumed the saved state {marker[:8]}"

    def _rewind(self, phone: ReferencePhone) -> str:
        seconds = []
        for number in range(_QUICK_REWINDS if self._is_quick else _REWINDS):
            phone.shell(f"settings put system verify {number}; echo x > /sdcard/verify").require()
            seconds.append(phone.snapshots.rewind(READY).seconds)
            if phone.files.stat("/sdcard/verify") is not None:
                raise MachineError(f"Rewind {number + 1} left a file.")
        return (
            f"{len(seconds)} times, median {statistics.median(seconds):.1f} s, "
            f"longest {max(seconds):.1f} s"
        )

    def _read_clock(self, phone: ReferencePhone) -> str:
        off_s = float(phone.shell("date +%s").text) - self._clock.now_s()
        if abs(off_s) > _MAX_CLOCK_S:
            raise MachineError(f"The phone's clock differs by {off_s:.0f} s from this host's.")
        return "as this host's"

    def _restart(self, phone: ReferencePhone) -> str:
        start_s = self._clock.monotonic_s()
        phone.stop()
        stop_s = self._clock.monotonic_s() - start_s
        if stop_s > _MAX_STOP_S:
            raise MachineError(f"The phone took {stop_s:.0f} s to stop.")
        phone.start()
        phone.snapshots.rewind(READY)
        total_s = self._clock.monotonic_s() - start_s
        return f"stopped after {stop_s:.1f} s, rewound after {total_s:.1f} s"

    def _pair(self, handles: list[MachineHandle[ReferencePhone]]) -> str:
        self._make(handles)
        phones = [handle.machine for handle in handles]
        for number, phone in enumerate(phones):
            phone.shell(f"settings put system verify {number}").require()
        values = [phone.shell("settings get system verify").text for phone in phones]
        if values != ["0", "1"]:
            raise MachineError("The phones share their state.", details=str(values))
        with ThreadPoolExecutor(len(phones)) as pool:
            reports = list(pool.map(lambda phone: phone.snapshots.rewind(READY), phones))
        return f"rewound at once in {max(report.seconds for report in reports):.1f} s"


def _conformance(phone: ReferencePhone) -> str:
    findings: Sequence[Finding] = verify_phone(PhoneUnderTest(phone.device, phone.console), CHECKS)
    if failed := [finding for finding in findings if finding.state == "fail"]:
        raise MachineError(
            f"{len(failed)} of {len(findings)} checks failed.",
            details="; ".join(f"{finding.name}: {finding.message[:200]}" for finding in failed),
            resolution="`mesocosm machine verify --phone` shows them one by one.",
        )
    return f"{len(findings)} checks"


def _save(phone: ReferencePhone) -> str:
    phone.snapshots.save("verify")
    names = list(phone.snapshots.list_snapshots())
    phone.snapshots.delete_snapshot("verify")
    return f"listed: {', '.join(names)}"


def _picture(phone: ReferencePhone) -> str:
    frame = phone.screen.capture()
    if not (frame != frame[0, 0]).any():
        raise MachineError("The phone's picture has only one colour.")
    return f"{frame.shape[1]}x{frame.shape[0]} px"
