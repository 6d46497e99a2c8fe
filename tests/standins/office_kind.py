"""A kind of resource that only the tests know: pages over HTTP and mail over SMTP, in a container.

``MESOCOSM_EXTENSIONS=tests.standins.office_kind:TABLE`` adds it. Its page shows its *seed* and the
messages that it has received, which a rewind forgets.
"""

from __future__ import annotations

import contextlib
import json
import urllib.request
from typing import TYPE_CHECKING, Any, Literal

from docker.errors import NotFound

from foundation.clock import SYSTEM_CLOCK, wait_until
from foundation.errors import MachineStartError, ResetMismatchError, SnapshotMissingError
from foundation.ids import new_machine_id
from images.builder import find
from images.engine import connect
from provisioning.container_names import LABEL, LABEL_STATE, container_name
from provisioning.handle import MachineHandle
from provisioning.machine_folder import create_folder, find_folder
from provisioning.machine_record import MachineRecord
from provisioning.machine_state import MachineState
from provisioning.protocols import READY, ResetReport
from provisioning.registry import BackendEntry, ResourceKind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from foundation.cancel import CancelToken
    from foundation.settings import Settings
    from provisioning.handle import HostResource
    from provisioning.machine_folder import MachineFolder
    from provisioning.protocols import MachineInfo
    from provisioning.resource import ResourceSpec

OFFICE = "office"
MAIL_PORT, WEB_PORT = 25, 80
_LABEL_OFFICE = "mesocosm.test-office"
_START_S = 30.0
_SCRIPT = """
import http.server, json, socketserver, sys, threading

messages = []

class Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        shown = {"seed": sys.argv[1], "host": self.headers["Host"], "path": self.path}
        body = json.dumps({**shown, "messages": messages}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

class Mail(socketserver.StreamRequestHandler):
    def say(self, reply):
        self.wfile.write(reply + b"\\r\\n")

    def handle(self):
        self.say(b"220 office ready")
        for line in iter(self.rfile.readline, b""):
            verb = line.split()[0].upper() if line.split() else b""
            self.say({b"DATA": b"354 go on", b"QUIT": b"221 bye"}.get(verb, b"250 fine"))
            if verb == b"DATA":
                messages.append(b"".join(iter(self.rfile.readline, b".\\r\\n")).decode())
                self.say(b"250 kept")
            elif verb == b"QUIT":
                return

pages = http.server.ThreadingHTTPServer(("", 80), Pages)
threading.Thread(target=pages.serve_forever, daemon=True).start()
socketserver.ThreadingTCPServer(("", 25), Mail).serve_forever()
"""


class OfficeRecord(MachineRecord):
    """The record of an office."""

    backend: Literal["test-office"] = "test-office"
    seed: int


class Office:
    """An office; its container outlives the process that started it."""

    def __init__(self, folder: MachineFolder, record: OfficeRecord) -> None:
        self.folder = folder
        self._record = record

    @property
    def info(self) -> MachineInfo:
        return self._record.info

    @property
    def power(self) -> Office:
        return self

    @property
    def snapshots(self) -> Office:
        return self

    @property
    def endpoints(self) -> Mapping[int, tuple[str, int]]:
        published = self._attributes()["NetworkSettings"]["Ports"]
        return {
            port: ("127.0.0.1", int(published[f"{port}/tcp"][0]["HostPort"]))
            for port in (MAIL_PORT, WEB_PORT)
        }

    def page(self) -> dict[str, Any]:
        """Ask it from the host for what its page shows."""
        host, port = self.endpoints[WEB_PORT]
        with urllib.request.urlopen(f"http://{host}:{port}/", timeout=10) as reply:
            shown: dict[str, Any] = json.load(reply)
        return shown

    def start(self) -> None:
        with connect(doing="start an office", refusal=MachineStartError) as client:
            client.containers.get(container_name(self.info.machine_id)).start()
        self._wait()

    def stop(self) -> None:
        with connect(doing="stop an office") as client, contextlib.suppress(NotFound):
            client.containers.get(container_name(self.info.machine_id)).stop(timeout=0)

    def is_running(self) -> bool:
        try:
            return bool(self._attributes()["State"]["Running"])
        except NotFound:
            return False

    def save(self, name: str) -> None:
        assert name == READY

    def rewind(self, name: str) -> ResetReport:
        if name != READY:
            raise SnapshotMissingError(f"An office has no snapshot {name}.")
        start_s = SYSTEM_CLOCK.monotonic_s()
        with connect(doing="rewind an office") as client:
            client.containers.get(container_name(self.info.machine_id)).restart(timeout=0)
        self._wait()
        shown = self.page()
        if shown["messages"] or shown["seed"] != str(self._record.seed):
            raise ResetMismatchError(f"The office shows {shown}.")
        return ResetReport("restart", SYSTEM_CLOCK.monotonic_s() - start_s)

    def list_snapshots(self) -> list[str]:
        return [READY]

    def delete_snapshot(self, name: str) -> None:
        raise SnapshotMissingError(f"The snapshot {name} of an office cannot be deleted.")

    def release(self) -> None:
        pass

    def delete(self) -> None:
        _remove(self.info.machine_id)
        self.folder.remove()

    def _attributes(self) -> dict[str, Any]:
        with connect(doing="look for an office") as client:
            found: dict[str, Any] = client.containers.get(
                container_name(self.info.machine_id)
            ).attrs
        return found

    def _wait(self) -> None:
        def answers() -> bool:
            with contextlib.suppress(OSError, KeyError, IndexError, TypeError):
                return "seed" in self.page()
            return False

        if not wait_until(answers, timeout_s=_START_S, every_s=0.05):
            raise MachineStartError("The office does not answer.")


class OfficeBackend:
    """Makes offices from the image of phones, which has Python."""

    machine_mib = 32

    def __init__(self, settings: Settings, spec: ResourceSpec) -> None:
        self._settings = settings
        self._spec = spec

    def reserved_mib(self, record: MachineRecord) -> int:
        return self.machine_mib

    def make(
        self, say: Callable[[str], None], *, cancel: CancelToken | None = None
    ) -> MachineHandle[HostResource]:
        del say, cancel
        image = find("phone", self._settings).tag
        assert image is not None
        machine_id = new_machine_id(OFFICE)
        claim = create_folder(self._settings.devices_dir, machine_id)
        seed = self._spec.parameters.get("seed", 0)
        record = claim.folder.write(
            OfficeRecord(
                machine_id=machine_id,
                kind=OFFICE,
                image="office:1",
                image_digest="0" * 64,
                accelerator="none",
                user="",
                home="",
                parameters=dict(self._spec.parameters),
                stamp=self._spec.key,
                seed=int(str(seed)),
            )
        )
        labels = {LABEL: "1", LABEL_STATE: str(self._settings.state_dir), _LABEL_OFFICE: machine_id}
        with connect(doing="make an office", refusal=MachineStartError) as client:
            client.containers.create(
                image,
                name=container_name(machine_id),
                entrypoint=["python3", "-u", "-c", _SCRIPT, str(seed)],
                labels=labels,
                ports={f"{port}/tcp": ("127.0.0.1", 0) for port in (MAIL_PORT, WEB_PORT)},
                mem_limit="64m",
            )
        office = self.attach(claim.folder, record)
        office.power.start()
        claim.folder.mark(MachineState.READY)
        return MachineHandle(office, claim)

    def attach(self, folder: MachineFolder, record: MachineRecord) -> HostResource:
        assert isinstance(record, OfficeRecord)
        return Office(folder, record)

    def fits(self, record: MachineRecord) -> bool:
        return record.stamp == self._spec.key

    def remove_by_id(self, machine_id: str) -> None:
        _remove(machine_id)

    def remove_strays(self) -> list[str]:
        gone = []
        for machine_id in offices(self._settings):
            if not find_folder(self._settings, machine_id).path.is_dir():
                _remove(machine_id)
                gone.append(f"{machine_id}: its folder is gone")
        return gone

    def require_host(self) -> None:
        pass


def offices(settings: Settings) -> list[str]:
    """Return the ids of an appliance's offices that have a container, running or not."""
    with connect(doing="list offices") as client:
        labels = [_LABEL_OFFICE, f"{LABEL_STATE}={settings.state_dir}"]
        found = client.containers.list(all=True, filters={"label": labels})
        return sorted(str(container.labels[_LABEL_OFFICE]) for container in found)


def _remove(machine_id: str) -> None:
    with connect(doing="remove an office") as client, contextlib.suppress(NotFound):
        client.containers.get(container_name(machine_id)).remove(force=True, v=True)


TABLE = [
    ResourceKind(OFFICE),
    BackendEntry(
        name="test-office",
        kind=OFFICE,
        backend=f"{__name__}:OfficeBackend",
        record=f"{__name__}:OfficeRecord",
        parameters=("seed",),
        host="docker",
    ),
]

EXTENSION = f"{__name__}:TABLE"
"""Value of ``MESOCOSM_EXTENSIONS``."""
