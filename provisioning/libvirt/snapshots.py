"""Save a running VM and rewind it, RAM and disk, inside the same QEMU.

libvirt's own revert starts QEMU anew (2.5-3.4 s, and breaks every connection of the guest);
``loadvm`` in the running process takes well under a second and keeps the virtio-serial link.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from appliance.base.clock import SYSTEM_CLOCK
from appliance.base.errors import (
    MesocosmError,
    SnapshotError,
    SnapshotMissingError,
)
from appliance.base.files import write_atomic
from provisioning.libvirt.waking import Phases, wake
from provisioning.protocols import ResetReport
from provisioning.state_digest import StateDigest, take_digest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from appliance.base.clock import Clock
    from provisioning.libvirt.connection import Hypervisor
    from provisioning.links.client import LinkClient


class VmSnapshots:
    """`provisioning.protocols.Snapshots` over QEMU's ``savevm`` and ``loadvm``.

    Beside each snapshot, which lies in the machine's qcow2 overlay, stands the digest of the
    guest's state at the moment of saving; a rewind that does not reproduce it is refused.

    Args:
        hypervisor: where the domain runs.
        name: of the domain.
        folder: of the machine; digests go to ``snapshots/`` below it.
        link: to the probe.
        clock: sets the guest's clock and measures.
    """

    def __init__(
        self,
        hypervisor: Hypervisor,
        name: str,
        folder: Path,
        link: LinkClient,
        *,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._hypervisor = hypervisor
        self._name = name
        self._folder = folder / "snapshots"
        self._link = link
        self._clock = clock

    def save(self, name: str) -> None:
        """Save the whole state, RAM included; an older snapshot of that name is replaced.

        Raises:
            SnapshotError: QEMU could not save it, or the guest did not tell its state.
        """
        path = self._digest_path(name)
        path.unlink(missing_ok=True)
        try:
            digest = take_digest(self._link)
        except MesocosmError as exc:
            raise SnapshotError(f"{self._name} does not tell its state.", str(exc)) from exc
        self._monitor("savevm", name)
        write_atomic(path, digest.model_dump_json())

    def rewind(self, name: str) -> ResetReport:
        """Go back, find the probe again, set clock and random pool, and verify.

        Phases: ``load``, ``resync`` (the probe answers), ``verify`` (with clock and seed).

        Raises:
            SnapshotMissingError: there is no such snapshot.
            SnapshotError: going back failed; the machine must not be used.
            ResetMismatchError: the machine differs from the snapshot; it must not be used.
        """
        return self._go_back(name, path="rewind")

    def restore(self, name: str) -> ResetReport:
        """Do as `rewind` in a QEMU that was just started, paused; the guest runs afterwards.

        Raises: as `rewind`.
        """
        return self._go_back(name, path="restore")

    def list_snapshots(self) -> Sequence[str]:
        """Give the names of the snapshots, sorted."""
        return sorted(path.stem for path in self._folder.glob("*.json"))

    def delete_snapshot(self, name: str) -> None:
        """Delete one.

        Raises:
            SnapshotMissingError: there is no such snapshot.
            SnapshotError: QEMU could not delete it.
        """
        self._require(name)
        self._digest_path(name).unlink()
        self._monitor("delvm", name)

    def _go_back(self, name: str, *, path: str) -> ResetReport:
        before = self._require(name)
        phases = Phases(self._clock)
        with phases.part("load"):
            self._monitor("loadvm", name)
            if path == "restore":
                self._hypervisor.resume(self._name)
        wake(self._link, before, phases, name=self._name, clock=self._clock)
        return ResetReport(path=path, seconds=phases.total_s(), phases_s=phases.seconds)

    def _monitor(self, command: str, name: str) -> None:
        try:
            words = self._hypervisor.monitor(self._name, f"{command} {name}")
        except MesocosmError as exc:
            raise SnapshotError(f"QEMU did not carry out {command} {name}.", str(exc)) from exc
        if words:
            raise SnapshotError(
                f"QEMU refused {command} {name}.",
                details=words,
                resolution="Check the free space of the state folder with `mesocosm doctor`.",
            )

    def _require(self, name: str) -> StateDigest:
        try:
            return StateDigest.model_validate_json(self._digest_path(name).read_bytes())
        except (OSError, ValueError) as exc:
            known = ", ".join(self.list_snapshots()) or "none"
            raise SnapshotMissingError(
                f"{self._name} has no snapshot called {name!r}.", details=f"It has: {known}."
            ) from exc

    def _digest_path(self, name: str) -> Path:
        if not name.replace("-", "").replace("_", "").isalnum():
            raise SnapshotError(
                f"{name!r} is no name for a snapshot.",
                resolution="Use letters, digits, - and _.",
            )
        return self._folder / f"{name}.json"
