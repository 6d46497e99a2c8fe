"""Machines as the pages show them, and operations on unused machines."""

from __future__ import annotations

import io
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from PIL import Image

from foundation.clock import SYSTEM_CLOCK
from foundation.errors import MachineError, UnsupportedError
from provisioning.fleet.operations import MachineOperations
from provisioning.machine_folder import iter_folders
from provisioning.machine_state import MachineState

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from foundation.clock import Clock
    from foundation.settings import Settings
    from provisioning.fleet.liveness import Liveness
    from provisioning.machine_record import MachineRecord
    from provisioning.protocols import Frame

THUMBNAIL_PX = 480
_PICTURE_AGE_S = 1.0
_LOOK_AGE_S = 2.0


@dataclass(frozen=True, slots=True)
class MachineRow:
    """Summary of a machine.

    Attributes:
        machine_id: unique in this appliance.
        kind: desktop or phone.
        backend: name of the backend that runs it.
        image: image it was created from.
        accelerator: ``kvm``, ``tcg`` or ``none``.
        state: current state; ``ended`` and ``unreachable`` do not occur in records.
        in_use: whether the machine is claimed.
    """

    machine_id: str
    kind: str
    backend: str
    image: str
    accelerator: str
    state: str
    in_use: bool

    @property
    def is_healthy(self) -> bool:
        """Whether the machine exists and is reachable."""
        return self.state not in {"ended", "unreachable"}


class Hold(Protocol):
    """An exclusive claim on a machine."""

    def release(self) -> None:
        """Release the claim; idempotent."""
        ...


class MachineService(Protocol):
    """Screens of individual machines, and operations on them."""

    def rows(self) -> Sequence[MachineRow]:
        """Return all machines, sorted by id."""
        ...

    def picture(self, machine_id: str) -> bytes:
        """Return a thumbnail of a machine's screen as PNG, at most one second old.

        Raises:
            UnknownNameError: there is no such machine.
            MesocosmError: the machine cannot be reached.
        """
        ...

    def vnc(self, machine_id: str) -> Path:
        """Return the socket of a machine's VNC server.

        Raises:
            UnknownNameError: there is no such machine.
            UnsupportedError: its backend has no VNC server.
            MachineError: it is not running.
        """
        ...

    def take(self, machine_id: str) -> Hold | None:
        """Claim an unused machine to operate it; return None if it is not available.

        Raises:
            UnknownNameError: there is no such machine.
        """
        ...

    def rewind(self, machine_id: str) -> str:
        """Rewind an unused machine to `READY` and verify it; return a message about the result.

        Raises:
            UnknownNameError: there is no such machine.
            MachineBusyError: the machine is in use.
            MesocosmError: the machine cannot be rewound.
        """
        ...

    def stop(self, machine_id: str) -> str:
        """Stop an unused machine; return a message about the result.

        Raises:
            UnknownNameError: there is no such machine.
            MachineBusyError: the machine is in use.
            MesocosmError: the machine cannot be stopped.
        """
        ...

    def fork(self) -> str:
        """Start a fork of the desktop's template for manual use; return a message about the result.

        Raises:
            RequirementError: there is no template.
            MesocosmError: the fork cannot be started.
        """
        ...


class HostMachineService:
    """The machines of this host; thread-safe.

    Args:
        settings: locate the machines.
        clock: measures the age of pictures and states.
        operations: operations on these machines; by default those of the host's backends.
    """

    def __init__(
        self,
        settings: Settings,
        clock: Clock = SYSTEM_CLOCK,
        operations: MachineOperations | None = None,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._operations = operations or MachineOperations(settings)
        self._lock = threading.Lock()
        self._locks: dict[str, threading.Lock] = {}
        self._pictures: dict[str, tuple[float, bytes]] = {}
        self._liveness: Liveness | None = None
        self._states: tuple[float, dict[str, str]] = (float("-inf"), {})

    def rows(self) -> list[MachineRow]:
        """Return all machines, sorted by id."""
        states = self._look()
        rows = []
        for folder in iter_folders(self._settings):
            if record := folder.read():
                fields = record.model_dump(mode="json")
                row = MachineRow(
                    machine_id=folder.machine_id,
                    kind=record.kind,
                    backend=str(fields.get("backend", "")),
                    image=str(fields.get("image", "")),
                    accelerator=str(fields.get("accelerator", "")),
                    state=states.get(folder.machine_id, record.state.value),
                    in_use=folder.is_claimed(),
                )
                rows.append(row)
        return sorted(rows, key=lambda row: row.machine_id)

    def picture(self, machine_id: str) -> bytes:
        """Return a thumbnail of a machine's screen; see `MachineService`."""
        folder, record = self._operations.find(machine_id)
        _require_shown(machine_id, record)
        with self._lock:
            lock = self._locks.setdefault(machine_id, threading.Lock())
        with lock:
            taken_s, picture = self._pictures.get(machine_id, (float("-inf"), b""))
            if self._clock.monotonic_s() - taken_s > _PICTURE_AGE_S:
                machine = self._operations.attach(folder, record)
                try:
                    picture = thumbnail(machine.screen.capture())
                finally:
                    machine.release()
                self._pictures[machine_id] = (self._clock.monotonic_s(), picture)
            return picture

    def vnc(self, machine_id: str) -> Path:
        """Return the socket of a machine's VNC server; see `MachineService`."""
        folder, record = self._operations.find(machine_id)
        if not record.shows_vnc:
            raise UnsupportedError(
                f"{machine_id} has no VNC server.",
                details=f"A {record.kind} of the backend {record.backend} provides screenshots only.",
            )
        _require_shown(machine_id, record)
        return folder.path / "vnc.sock"

    def take(self, machine_id: str) -> Hold | None:
        """Claim a machine; see `MachineService`.

        Changes made on it are undone, because the next lease rewinds it first.
        """
        folder, _ = self._operations.find(machine_id)
        claim = folder.claim()
        if claim is None:
            return None
        record = folder.read()
        if record is None or record.state not in {MachineState.READY, MachineState.KEPT}:
            claim.release()
            return None
        return claim

    def rewind(self, machine_id: str) -> str:
        """Rewind a machine; see `MachineService`."""
        report = self._operations.rewind(machine_id)
        return f"{machine_id} was rewound and verified in {report.seconds:.2f} s."

    def stop(self, machine_id: str) -> str:
        """Stop a machine; see `MachineService`."""
        self._operations.stop(machine_id)
        return f"{machine_id} was stopped."

    def fork(self) -> str:
        """Start a fork; see `MachineService`."""
        machine_id, report = self._operations.fork()
        return f"{machine_id} was verified after {report.seconds:.2f} s."

    def _look(self) -> dict[str, str]:
        """Return machine states by id, at most two seconds old."""
        from provisioning.fleet.liveness import open_liveness  # noqa: PLC0415 - imports Docker

        with self._lock:
            seen_s, states = self._states
            if self._clock.monotonic_s() - seen_s > _LOOK_AGE_S:
                self._liveness = self._liveness or open_liveness(self._settings)
                states = {
                    machine.machine_id: machine.state for machine in self._liveness.check().machines
                }
                self._states = (self._clock.monotonic_s(), states)
            return states


def _require_shown(machine_id: str, record: MachineRecord) -> None:
    if record.state in {MachineState.WAITING, MachineState.STOPPED, MachineState.STARTING}:
        raise MachineError(f"{machine_id} is {record.state} and has no screen.")


def thumbnail(frame: Frame) -> bytes:
    """Return a frame as a PNG that fits into a square of `THUMBNAIL_PX`."""
    image = Image.fromarray(frame)
    image.thumbnail((THUMBNAIL_PX, THUMBNAIL_PX))
    out = io.BytesIO()
    image.save(out, format="PNG")
    return out.getvalue()
