"""Saves a running VM and rewinds it, RAM and disk, inside the same QEMU process.

libvirt's own revert restarts QEMU (2.5-3.4 s, and breaks every connection of the guest);
``loadvm`` in the running process takes well under a second. The snapshot ``ready`` need not even be
loaded completely: see `provisioning.desktop.qemu.rewind_base`.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from foundation.clock import SYSTEM_CLOCK
from foundation.errors import (
    MesocosmError,
    SnapshotError,
    SnapshotMissingError,
)
from provisioning.desktop.qemu.console import size_of
from provisioning.desktop.qemu.domain import SERIAL_LOG
from provisioning.desktop.qemu.migration import full_snapshots
from provisioning.desktop.qemu.rewind_base import find_base, load_devices, restore_ram
from provisioning.desktop.qemu.waking import wake
from provisioning.protocols import READY, ResetReport
from provisioning.reset.digests import take_digest, take_fingerprint
from provisioning.reset.phases import Phases
from provisioning.reset.picture import Picture, still
from provisioning.reset.saved_state import SavedState, picture_path, watch_desktop

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from foundation.clock import Clock
    from provisioning.desktop.qemu.connection import Hypervisor
    from provisioning.desktop.qemu.rewind_base import LinkHolder
    from provisioning.links.client import LinkClient
    from provisioning.protocols import Screen
    from provisioning.reach.guest import GuestReach

_log = logging.getLogger(__name__)


class VmSnapshots:
    """`provisioning.protocols.Snapshots` over QEMU's ``savevm`` and ``loadvm``.

    Each snapshot in the machine's qcow2 overlay is accompanied by the digest of the guest's state
    at the time of saving and by its picture; a rewind that does not reproduce them fails.

    Args:
        hypervisor: hypervisor that runs the domain.
        name: name of the domain.
        folder: the machine's folder; digests are stored in its ``snapshots/`` subfolder.
        holder: holder of the link to the probe.
        screen: screen of the machine, captured on the host.
        reach: services that the machine reaches, through connections that a rewind breaks.
        clock: clock used for timing and to set the guest's clock.
    """

    def __init__(
        self,
        hypervisor: Hypervisor,
        name: str,
        folder: Path,
        holder: LinkHolder,
        screen: Screen,
        *,
        reach: GuestReach,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._hypervisor = hypervisor
        self._name = name
        self._machine_folder = folder
        self._folder = folder / "snapshots"
        self._holder = holder
        self._screen = screen
        self._reach = reach
        self._clock = clock

    def save(self, name: str) -> None:
        """Save the whole state, including RAM; replaces an older snapshot of the same name.

        Before, the screen is watched for some seconds: areas that change on their own are not
        compared later.

        Raises:
            SnapshotError: QEMU could not save the state, the guest did not report its state, or
                the reported state could never be verified.
        """
        _log.info("saving %s as %s", self._name, name)
        path = self._digest_path(name)
        path.unlink(missing_ok=True)
        picture_path(path).unlink(missing_ok=True)
        try:
            link = self._holder.link
            windows = take_digest(link).windows
            watched = watch_desktop(link, self._screen, windows, clock=self._clock)
            fingerprint, digest = take_fingerprint(link), take_digest(link)
            if take_fingerprint(link) != fingerprint:
                # It may be another state's than the digest.
                fingerprint = ""
            frame = self._screen.capture()
            picture = Picture(frame, watched.mask & still(watched.frame, frame))
            SavedState(digest, picture).require_provable(self._name)
            self._monitor("savevm", name)
            picture = picture.without(still(frame, self._screen.capture()))
        except SnapshotError:
            raise
        except MesocosmError as exc:
            raise SnapshotError(f"{self._name} did not report its state.", str(exc)) from exc
        SavedState(digest, picture, fingerprint).write(path)

    def rewind(self, name: str, *, is_paused: bool = False) -> ResetReport:
        """Load a snapshot, reconnect to the probe, set clock and random pool, and verify.

        Services that the machine reaches can be reached again afterwards, over new connections.

        Phases: ``memory`` (only if the RAM is restored from its file), ``load``, ``verify`` (until
        the probe has answered, with clock and seed).

        Args:
            name: name of the snapshot.
            is_paused: whether the guest is paused now; it runs afterwards.

        Raises:
            SnapshotMissingError: the snapshot does not exist.
            SnapshotError: loading failed; the machine must not be used.
            ResetMismatchError: the machine differs from the snapshot; it must not be used.
        """
        return self._load_and_verify(name, path="rewind", is_paused=is_paused)

    def restore(self, name: str) -> ResetReport:
        """Load and verify as `rewind` does, in a new paused QEMU; the guest runs afterwards.

        Raises the same errors as `rewind`.
        """
        return self._load_and_verify(name, path="restore", is_paused=True)

    def list_snapshots(self) -> Sequence[str]:
        """Return the names of the snapshots, sorted."""
        return sorted(path.stem for path in self._folder.glob("*.json"))

    def delete_snapshot(self, name: str) -> None:
        """Delete a snapshot.

        Raises:
            SnapshotMissingError: the snapshot does not exist.
            SnapshotError: QEMU could not delete it.
        """
        _log.info("deleting the snapshot %s of %s", name, self._name)
        if not self._digest_path(name).is_file():
            raise self._missing(name)
        self._digest_path(name).unlink()
        picture_path(self._digest_path(name)).unlink(missing_ok=True)
        self._monitor("delvm", name)

    def _load_and_verify(self, name: str, *, path: str, is_paused: bool) -> ResetReport:
        before = self._require(name)
        phases = Phases(self._clock)
        self._reach.suspend()
        try:
            link = self._load(name, phases, is_paused=is_paused)
        except SnapshotError:
            raise
        except MesocosmError as exc:
            raise SnapshotError(
                f"{self._name} cannot be rewound to the snapshot {name}.", str(exc)
            ) from exc
        wake(link, self._screen, before, phases, name=self._name, clock=self._clock)
        self._reach.resume()
        return ResetReport(path=path, seconds=phases.total_s(), phases_s=phases.seconds)

    def _load(self, name: str, phases: Phases, *, is_paused: bool) -> LinkClient:
        """Load a snapshot by the fastest available method, run the guest, and return the link."""
        link = None
        if name == READY and (base := find_base(self._machine_folder)):
            with phases.part("memory"):
                if not is_paused:
                    self._hypervisor.qmp(self._name, "stop")
                link = restore_ram(self._hypervisor, self._name, base, self._holder)
            with phases.part("load"):
                if link is None or not load_devices(self._hypervisor, self._name):
                    self._monitor("loadvm", READY)
                    link = link or self._holder.reconnect()
        else:
            with phases.part("load"):
                self._monitor("loadvm", name)
        console_bytes = size_of(self._machine_folder / SERIAL_LOG)
        self._hypervisor.lifecycle.forget(self._name, console_bytes=console_bytes)
        if is_paused or link is not None:
            self._hypervisor.resume(self._name)
        return link or self._holder.link

    def _monitor(self, command: str, name: str) -> None:
        try:
            with full_snapshots(self._hypervisor, self._name):
                output = self._hypervisor.monitor(self._name, f"{command} {name}")
        except MesocosmError as exc:
            raise SnapshotError(f"QEMU did not carry out {command} {name}.", str(exc)) from exc
        if output:
            raise SnapshotError(
                f"QEMU refused {command} {name}.",
                details=output,
                resolution="Restart the machine; `mesocosm doctor` shows the free disk space.",
            )

    def _require(self, name: str) -> SavedState:
        try:
            return SavedState.read(self._digest_path(name))
        except FileNotFoundError as exc:
            raise self._missing(name) from exc
        except (OSError, ValueError) as exc:
            raise SnapshotError(
                f"The snapshot {name!r} of {self._name} cannot be verified.",
                details=f"Its reference state is damaged, or of an older version: {exc}",
                resolution="Save it again, or remove the machine with `mesocosm machine delete`.",
            ) from exc

    def _missing(self, name: str) -> SnapshotMissingError:
        known = ", ".join(self.list_snapshots()) or "none"
        return SnapshotMissingError(
            f"{self._name} has no snapshot {name!r}.", details=f"Its snapshots: {known}."
        )

    def _digest_path(self, name: str) -> Path:
        if not name.replace("-", "").replace("_", "").isalnum():
            raise SnapshotError(
                f"{name!r} is not a valid snapshot name.",
                resolution="Use letters, digits, - and _.",
            )
        return self._folder / f"{name}.json"
