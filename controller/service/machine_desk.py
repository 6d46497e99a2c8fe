"""What the pages show of machines, and do with those that nobody uses."""

from __future__ import annotations

import io
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from PIL import Image

from appliance.base.clock import SYSTEM_CLOCK
from appliance.base.errors import (
    MachineError,
    RequirementError,
    UnknownNameError,
    UnsupportedError,
)
from provisioning.machine_folder import iter_folders
from provisioning.machine_state import MachineState
from provisioning.protocols import READY

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from appliance.base.clock import Clock
    from appliance.base.settings import Settings
    from provisioning.fleet.handle import HostMachine
    from provisioning.fleet.liveness import Liveness
    from provisioning.machine_folder import MachineFolder, MachineRecord
    from provisioning.protocols import Frame

THUMBNAIL_PX = 480
_PICTURE_AGE_S = 1.0
_LOOK_AGE_S = 2.0


@dataclass(frozen=True, slots=True)
class MachineRow:
    """A machine at a glance.

    Attributes:
        machine_id: unique in this appliance.
        kind: desktop or phone.
        backend: what runs it.
        image: what it was made from.
        accelerator: ``kvm``, ``tcg`` or ``none``.
        state: as it is now; ``ended`` and ``unreachable`` are what no record says.
        in_use: somebody holds it.
    """

    machine_id: str
    kind: str
    backend: str
    image: str
    accelerator: str
    state: str
    in_use: bool

    @property
    def is_well(self) -> bool:
        """Whether it is what its record says."""
        return self.state not in {"ended", "unreachable"}


class Hold(Protocol):
    """A machine that is kept from others."""

    def release(self) -> None:
        """Let others have it; harmless twice."""
        ...


class MachineDesk(Protocol):
    """Where machines are looked at and handled one by one."""

    def rows(self) -> Sequence[MachineRow]:
        """Return all machines, by id."""
        ...

    def picture(self, machine_id: str) -> bytes:
        """Return what a machine shows, as a small PNG; it may be a second old.

        Raises:
            UnknownNameError: there is no such machine.
            MesocosmError: it cannot be asked.
        """
        ...

    def vnc(self, machine_id: str) -> Path:
        """Return the socket of a machine's VNC server.

        Raises:
            UnknownNameError: there is no such machine.
            UnsupportedError: machines of its sort offer none.
            MachineError: it does not run.
        """
        ...

    def take(self, machine_id: str) -> Hold | None:
        """Keep a machine that nobody uses from others, to act on it; None where it cannot be had.

        Raises:
            UnknownNameError: there is no such machine.
        """
        ...

    def rewind(self, machine_id: str) -> str:
        """Bring a machine that nobody uses back to `READY` and verify it; return what was done.

        Raises:
            UnknownNameError: there is no such machine.
            MachineBusyError: somebody uses it.
            MesocosmError: it cannot be done.
        """
        ...

    def stop(self, machine_id: str) -> str:
        """Stop a machine that nobody uses; return what was done.

        Raises:
            UnknownNameError: there is no such machine.
            MachineBusyError: somebody uses it.
            MesocosmError: it cannot be done.
        """
        ...

    def fork(self) -> str:
        """Start a fork of the desktop's template, to be used by hand; return what was done.

        Raises:
            RequirementError: there is no template.
            MesocosmError: it cannot be started.
        """
        ...


class HostMachineDesk:
    """The machines of this host; safe among threads.

    Args:
        settings: where they are.
        clock: says how old a picture is.
    """

    def __init__(self, settings: Settings, clock: Clock = SYSTEM_CLOCK) -> None:
        self._settings = settings
        self._clock = clock
        self._lock = threading.Lock()
        self._locks: dict[str, threading.Lock] = {}
        self._pictures: dict[str, tuple[float, bytes]] = {}
        self._liveness: Liveness | None = None
        self._states: tuple[float, dict[str, str]] = (float("-inf"), {})

    def rows(self) -> list[MachineRow]:
        """Return all machines, by id."""
        states = self._look()
        rows = []
        for folder in iter_folders(self._settings):
            if record := folder.read():
                fields = record.model_dump(mode="json")
                row = MachineRow(
                    machine_id=folder.machine_id,
                    kind=record.kind.value,
                    backend=str(fields.get("backend", "")),
                    image=str(fields.get("image", "")),
                    accelerator=str(fields.get("accelerator", "")),
                    state=states.get(folder.machine_id, record.state.value),
                    in_use=folder.is_claimed(),
                )
                rows.append(row)
        return sorted(rows, key=lambda row: row.machine_id)

    def picture(self, machine_id: str) -> bytes:
        """Return what a machine shows; see `MachineDesk`."""
        folder, record = self._find(machine_id)
        _require_shown(machine_id, record)
        with self._lock:
            lock = self._locks.setdefault(machine_id, threading.Lock())
        with lock:
            taken_s, picture = self._pictures.get(machine_id, (float("-inf"), b""))
            if self._clock.monotonic_s() - taken_s > _PICTURE_AGE_S:
                machine = self._attach(folder, record)
                try:
                    picture = thumbnail(machine.screen.capture())
                finally:
                    machine.release()
                self._pictures[machine_id] = (self._clock.monotonic_s(), picture)
            return picture

    def vnc(self, machine_id: str) -> Path:
        """Return the socket of a machine's VNC server; see `MachineDesk`."""
        folder, record = self._find(machine_id)
        if not record.shows_vnc:
            raise UnsupportedError(
                f"{machine_id} offers no VNC.",
                details=f"A {record.kind} of the backend {record.backend} is seen by pictures alone.",
            )
        _require_shown(machine_id, record)
        return folder.path / "vnc.sock"

    def take(self, machine_id: str) -> Hold | None:
        """Keep a machine from others; see `MachineDesk`.

        What is done on it is undone: who gets it next rewinds it first.
        """
        folder, _ = self._find(machine_id)
        claim = folder.claim()
        if claim is None:
            return None
        record = folder.read()
        if record is None or record.state not in {MachineState.READY, MachineState.KEPT}:
            claim.release()
            return None
        return claim

    def rewind(self, machine_id: str) -> str:
        """Bring a machine back; see `MachineDesk`."""
        folder, record = self._find(machine_id)
        claim = folder.require_claim()
        try:
            machine = self._attach(folder, record)
            machine.power.start()
            report = machine.snapshots.rewind(READY)
            machine.release()
        finally:
            claim.release()
        return f"{machine_id} was brought back and verified in {report.seconds:.2f} s."

    def stop(self, machine_id: str) -> str:
        """Stop a machine; see `MachineDesk`."""
        folder, record = self._find(machine_id)
        claim = folder.require_claim()
        try:
            self._attach(folder, record).power.stop()
        finally:
            claim.release()
        return f"{machine_id} was stopped."

    def fork(self) -> str:
        """Start a fork; see `MachineDesk`."""
        from provisioning.desktop.qemu.backend import QemuBackend  # noqa: PLC0415 - imports libvirt

        backend = QemuBackend(self._settings)
        handle = backend.stand_by()
        if handle is None:
            raise RequirementError(
                "There is no template to fork from.", resolution="`mesocosm up` makes it."
            )
        try:
            report = backend.wake(handle.machine)
            handle.folder.mark(MachineState.KEPT)
        except BaseException:
            handle.delete()
            raise
        handle.release()
        return f"{handle.machine.info.machine_id} was verified after {report.seconds:.2f} s."

    def _find(self, machine_id: str) -> tuple[MachineFolder, MachineRecord]:
        folders = {folder.machine_id: folder for folder in iter_folders(self._settings)}
        record = folders[machine_id].read() if machine_id in folders else None
        if record is None:
            raise UnknownNameError.of("machine", machine_id, folders)
        return folders[machine_id], record

    def _attach(self, folder: MachineFolder, record: MachineRecord) -> HostMachine:
        from provisioning.fleet.host_backends import host_backends  # noqa: PLC0415 - Docker, libvirt

        return host_backends(self._settings)[record.kind].attach(folder, record)

    def _look(self) -> dict[str, str]:
        """Return how machines are by id, as seen at most two seconds ago."""
        from provisioning.fleet.liveness import open_liveness  # noqa: PLC0415 - imports Docker

        with self._lock:
            seen_s, states = self._states
            if self._clock.monotonic_s() - seen_s > _LOOK_AGE_S:
                self._liveness = self._liveness or open_liveness(self._settings)
                states = {
                    machine.machine_id: machine.state for machine in self._liveness.look().machines
                }
                self._states = (self._clock.monotonic_s(), states)
            return states


def _require_shown(machine_id: str, record: MachineRecord) -> None:
    if record.state in {MachineState.WAITING, MachineState.STOPPED, MachineState.STARTING}:
        raise MachineError(f"{machine_id} is {record.state} and shows nothing.")


def thumbnail(frame: Frame) -> bytes:
    """Return a frame as a PNG no wider or higher than `THUMBNAIL_PX`."""
    image = Image.fromarray(frame)
    image.thumbnail((THUMBNAIL_PX, THUMBNAIL_PX))
    out = io.BytesIO()
    image.save(out, format="PNG")
    return out.getvalue()
