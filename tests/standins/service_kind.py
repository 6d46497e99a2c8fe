"""A kind of resource that only the tests know: a small TCP service without screen and input.

``MESOCOSM_EXTENSIONS=tests.standins.service_kind:TABLE`` adds it, with in-memory desktops and phones that
have folders. The service holds a number, which starts at the parameter *seed*: each connection sends
one line, ``get`` or ``add N``, and receives the number.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from foundation.clock import SYSTEM_CLOCK, wait_until
from foundation.errors import MachineStartError, ResetMismatchError, SnapshotMissingError
from foundation.ids import new_machine_id
from foundation.process import run
from provisioning.fake import FakeDesktop, FakePhone
from provisioning.handle import MachineHandle
from provisioning.machine_folder import create_folder
from provisioning.machine_record import MachineRecord
from provisioning.machine_state import MachineState
from provisioning.protocols import READY, ResetReport
from provisioning.registry import BackendEntry, ResourceKind
from provisioning.resource import DESKTOP, PHONE, ResourceSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from foundation.cancel import CancelToken
    from foundation.settings import Settings
    from provisioning.handle import HostMachine, HostResource
    from provisioning.machine_folder import MachineClaim, MachineFolder
    from provisioning.protocols import MachineInfo

SERVICE = "service"
PORT = 7
"""The port that guests see."""
_START_S = 30.0
_PID, _ADDRESS = "pid", "port"


class ServiceRecord(MachineRecord):
    """The record of a service."""

    backend: Literal["number-service"] = "number-service"
    seed: int


class Service:
    """A service in a process of its own, which outlives the process that started it."""

    def __init__(self, folder: MachineFolder, record: ServiceRecord) -> None:
        self.folder = folder
        self._record = record

    @property
    def info(self) -> MachineInfo:
        return self._record.info

    @property
    def power(self) -> Service:
        return self

    @property
    def snapshots(self) -> Service:
        return self

    @property
    def endpoints(self) -> Mapping[int, tuple[str, int]]:
        return {PORT: ("127.0.0.1", int((self.folder.path / _ADDRESS).read_text()))}

    def start(self) -> None:
        if self.is_running():
            return
        (self.folder.path / _ADDRESS).unlink(missing_ok=True)
        argv = [sys.executable, __file__, str(self.folder.path), str(self._record.seed)]
        run(argv).require("")
        address = self.folder.path / _ADDRESS
        if wait_until(address.is_file, timeout_s=_START_S, every_s=0.01) is None:
            raise MachineStartError("The service did not start.")

    def stop(self) -> None:
        end_process(self.folder)

    def is_running(self) -> bool:
        return running_pid(self.folder) is not None

    def save(self, name: str) -> None:
        assert name == READY

    def rewind(self, name: str) -> ResetReport:
        if name != READY:
            raise SnapshotMissingError(f"A service has no snapshot {name}.")
        start_s = SYSTEM_CLOCK.monotonic_s()
        self.stop()
        self.start()
        if (value := ask(self, "get")) != self._record.seed:
            raise ResetMismatchError(f"The service starts at {value}.")
        return ResetReport("restart", SYSTEM_CLOCK.monotonic_s() - start_s)

    def list_snapshots(self) -> list[str]:
        return [READY]

    def delete_snapshot(self, name: str) -> None:
        raise SnapshotMissingError(f"The snapshot {name} of a service cannot be deleted.")

    def release(self) -> None:
        pass

    def delete(self) -> None:
        self.stop()
        self.folder.remove()


class _Backend:
    """What the three backends have in common."""

    machine_mib = 8
    kind = ""
    recorded = ""

    def __init__(self, settings: Settings, spec: ResourceSpec) -> None:
        self.settings = settings
        self.spec = spec

    def reserved_mib(self, record: MachineRecord) -> int:
        return self.machine_mib

    def make(
        self, say: Callable[[str], None], *, cancel: CancelToken | None = None
    ) -> MachineHandle[HostResource]:
        claim = create_folder(self.settings.devices_dir, new_machine_id(self.kind))
        record = claim.folder.write(self.describe(claim))
        resource = self.attach(claim.folder, record)
        resource.power.start()
        claim.folder.mark(MachineState.READY)
        return MachineHandle(resource, claim)

    def describe(self, claim: MachineClaim) -> MachineRecord:
        return MachineRecord.model_validate(self.fields(claim))

    def fields(self, claim: MachineClaim) -> dict[str, object]:
        return {
            "machine_id": claim.folder.machine_id,
            "kind": self.kind,
            "backend": self.recorded,
            "image": f"{self.kind}:1",
            "image_digest": "0" * 64,
            "accelerator": "none",
            "user": "",
            "home": "",
            "parameters": dict(self.spec.parameters),
            "stamp": self.spec.key,
        }

    def attach(self, folder: MachineFolder, record: MachineRecord) -> HostResource:
        raise NotImplementedError

    def fits(self, record: MachineRecord) -> bool:
        return record.stamp == self.spec.key

    def remove_by_id(self, machine_id: str) -> None:
        pass

    def remove_strays(self) -> list[str]:
        return []

    def require_host(self) -> None:
        pass


class ServiceBackend(_Backend):
    kind, recorded = SERVICE, "number-service"

    def describe(self, claim: MachineClaim) -> ServiceRecord:
        seed = self.spec.parameters.get("seed", 0)
        return ServiceRecord.model_validate({**self.fields(claim), "seed": seed})

    def attach(self, folder: MachineFolder, record: MachineRecord) -> Service:
        assert isinstance(record, ServiceRecord)
        return Service(folder, record)


class _Desktop(FakeDesktop):
    """An in-memory desktop with a folder."""

    def __init__(self, folder: MachineFolder) -> None:
        super().__init__(folder.machine_id)
        self.folder = folder
        self.save(READY)

    def release(self) -> None:
        pass

    def delete(self) -> None:
        self.folder.remove()


class _Phone(FakePhone):
    """An in-memory phone with a folder."""

    def __init__(self, folder: MachineFolder) -> None:
        super().__init__(folder.machine_id)
        self.folder = folder
        self.save(READY)

    def release(self) -> None:
        pass

    def delete(self) -> None:
        self.folder.remove()


class DesktopBackend(_Backend):
    kind, recorded = DESKTOP, "memory-desktop"

    def attach(self, folder: MachineFolder, record: MachineRecord) -> HostMachine:
        return cast("HostMachine", _Desktop(folder))


class PhoneBackend(_Backend):
    kind, recorded = PHONE, "memory-phone"

    def attach(self, folder: MachineFolder, record: MachineRecord) -> HostMachine:
        return cast("HostMachine", _Phone(folder))


TABLE = [
    ResourceKind(SERVICE),
    BackendEntry(
        name="number-service",
        kind=SERVICE,
        backend=f"{__name__}:ServiceBackend",
        record=f"{__name__}:ServiceRecord",
        parameters=("seed",),
    ),
    BackendEntry("memory-desktop", DESKTOP, f"{__name__}:DesktopBackend"),
    BackendEntry("memory-phone", PHONE, f"{__name__}:PhoneBackend"),
]

EXTENSION = f"{__name__}:TABLE"
"""Value of ``MESOCOSM_EXTENSIONS``."""


def ask(resource: object, line: str) -> int:
    """Send one line to a service and return its number."""
    assert isinstance(resource, Service)
    with socket.create_connection(resource.endpoints[PORT], timeout=10) as connection:
        connection.sendall(f"{line}\n".encode())
        return int(connection.makefile().readline())


def running_pid(folder: MachineFolder) -> int | None:
    """Return the process of a service; None if it has ended."""
    with contextlib.suppress(OSError, ValueError):
        pid = int((folder.path / _PID).read_text())
        if str(folder.path) in Path(f"/proc/{pid}/cmdline").read_text():
            return pid
    return None


def end_process(folder: MachineFolder) -> None:
    """End the process of a service and wait until it is gone."""
    if (pid := running_pid(folder)) is None:
        return
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: running_pid(folder) is None, timeout_s=_START_S, every_s=0.01)


def serve(folder: Path, value: int) -> None:
    """Answer one connection after the other, in a process without a parent."""
    if os.fork():
        os._exit(0)
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(null, stream)
    with socket.create_server(("127.0.0.1", 0)) as server:
        (folder / _PID).write_text(str(os.getpid()))
        part = folder / f".{_ADDRESS}"
        part.write_text(str(server.getsockname()[1]))
        part.rename(folder / _ADDRESS)
        while True:
            connection, _ = server.accept()
            with connection:
                verb, _, number = connection.makefile().readline().strip().partition(" ")
                value += int(number) if verb == "add" else 0
                connection.sendall(f"{value}\n".encode())


if __name__ == "__main__":
    serve(Path(sys.argv[1]), int(sys.argv[2]))
