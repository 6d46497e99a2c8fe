"""Machines in memory for the page Fleet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.service.machine_service import MachineRow, thumbnail
from foundation.errors import MachineBusyError, UnknownNameError, UnsupportedError
from provisioning.fake import FakeDesktop, FakePhone
from provisioning.protocols import READY

if TYPE_CHECKING:
    from pathlib import Path

    from foundation.clock import Clock


class _Hold:
    """Keeps a machine in use."""

    def __init__(self, used: set[str], machine_id: str) -> None:
        self._used = used
        self._machine_id = machine_id
        used.add(machine_id)

    def release(self) -> None:
        self._used.discard(self._machine_id)


class FakeMachineService:
    """Machines in memory; every tenth is a phone, the second one is in use.

    Attributes:
        machines: by id.
        vnc_socket: of the VNC server that all desktops share; None where they have none.
        used: ids of machines in use.
    """

    def __init__(self, count: int, clock: Clock) -> None:
        self.machines: dict[str, FakeDesktop | FakePhone] = {}
        self.vnc_socket: Path | None = None
        self.used = {"desktop-0001"}
        self._clock = clock
        self.add(count)

    def add(self, count: int) -> None:
        for number in range(len(self.machines), len(self.machines) + count):
            make = FakePhone if number % 10 == 9 else FakeDesktop
            name = f"{'phone' if make is FakePhone else 'desktop'}-{number:04}"
            self.machines[name] = machine = make(name, self._clock)
            machine.save(READY)

    def rows(self) -> list[MachineRow]:
        rows = []
        for name, machine in self.machines.items():
            info = machine.info
            state = "ready" if machine.is_running() else "stopped"
            parts = (info.kind, info.backend, info.image, info.accelerator)
            rows.append(MachineRow(name, *parts, state, in_use=name in self.used))
        return rows

    def picture(self, machine_id: str) -> bytes:
        return thumbnail(self._find(machine_id).capture())

    def vnc(self, machine_id: str) -> Path:
        if self.vnc_socket is None or isinstance(self._find(machine_id), FakePhone):
            raise UnsupportedError(f"{machine_id} has no VNC server.")
        return self.vnc_socket

    def take(self, machine_id: str) -> _Hold | None:
        self._find(machine_id)
        return None if machine_id in self.used else _Hold(self.used, machine_id)

    def rewind(self, machine_id: str) -> str:
        self._unused(machine_id).rewind(READY)
        return f"{machine_id} was rewound."

    def stop(self, machine_id: str) -> str:
        self._unused(machine_id).stop()
        return f"{machine_id} was stopped."

    def fork(self) -> str:
        self.add(1)
        return f"{list(self.machines)[-1]} was forked."

    def _find(self, machine_id: str) -> FakeDesktop | FakePhone:
        if machine_id not in self.machines:
            raise UnknownNameError.of("machine", machine_id, self.machines)
        return self.machines[machine_id]

    def _unused(self, machine_id: str) -> FakeDesktop | FakePhone:
        if any(row.in_use for row in self.rows() if row.machine_id == machine_id):
            raise MachineBusyError(f"{machine_id} is in use.")
        return self._find(machine_id)
