"""What the state folder says of the Ray nodes that this appliance runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeVar

from pydantic import Field, ValidationError

from controller.specification.agent import Record
from foundation.errors import RequirementError
from foundation.files import FileLock, digest_bytes, write_atomic

if TYPE_CHECKING:
    from pathlib import Path

    from foundation.settings import Settings

NAMESPACE = "mesocosm"
"""Ray's namespace of the actors of all hosts."""
MACHINES_MIB = "machines_mib"
"""Ray's resource: memory that machines of a host may use, MiB."""
HOST_PREFIX = "host."
"""Beginning of Ray's resource that only one host has."""
Role = Literal["head", "host"]

_SOCKET_CHARS = 40


class HeadRecord(Record):
    """The head of the cluster, which runs no trials.

    Attributes:
        address: address at which hosts reach it.
        first_port: first of its ports; hosts connect to this one.
        service_url: address at which hosts reach the service that records trials.
    """

    address: str
    first_port: int
    service_url: str

    @property
    def endpoint(self) -> str:
        """Address and port of the head."""
        return f"{self.address}:{self.first_port}"


class HostRecord(Record):
    """A host of a cluster: this appliance, with its machines.

    Attributes:
        name: unique name of the host in the cluster.
        head: address and port of the head.
        first_port: first of the host's own ports.
        trials: number of simultaneous trials.
        machines_mib: memory that its machines may use together, MiB.
        token_path: file of the cluster's token.
    """

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")
    head: str
    first_port: int
    trials: int = Field(ge=1)
    machines_mib: int = Field(ge=0)
    token_path: str


AnyRecord = TypeVar("AnyRecord", HeadRecord, HostRecord)


class ClusterFiles:
    """Files of the cluster in the state folder of an appliance.

    Args:
        settings: locate the state folder.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.folder = settings.state_dir / "cluster"

    @property
    def token(self) -> Path:
        """The token of the cluster that this appliance is the head of."""
        return self.folder / "token"

    @property
    def is_drained(self) -> Path:
        """Exists while this host starts no trials."""
        return self.folder / "drained"

    @property
    def session_dir(self) -> Path:
        """The folder of Ray's sessions, below which the paths of sockets must stay short."""
        folder = self._settings.run_dir / "ray"
        if len(str(folder)) <= _SOCKET_CHARS:
            return folder
        return type(folder)(f"/tmp/mesocosm-ray-{digest_bytes(str(folder).encode())[:8]}")  # noqa: S108

    def log(self, role: Role) -> Path:
        """Return the log of a node."""
        return self.folder / f"{role}.log"

    def lock(self, role: Role) -> FileLock:
        """Return the lock that the supervisor of a node holds."""
        return FileLock(self._settings.run_dir / f"cluster-{role}.lock")

    def pid_path(self, role: Role) -> Path:
        """Return the file with the process id of the supervisor, which holds the lock."""
        return self._settings.run_dir / f"cluster-{role}.pid"

    def ready(self, role: Role) -> Path:
        """Return the file that exists while a node runs and has its pool."""
        return self._settings.run_dir / f"cluster-{role}.ready"

    def head(self) -> HeadRecord | None:
        """Return the record of the head; None if this appliance has none.

        Raises:
            RequirementError: the record is damaged.
        """
        return self._read("head", HeadRecord)

    def host(self) -> HostRecord | None:
        """Return the record of this host; None if it belongs to no cluster.

        Raises:
            RequirementError: the record is damaged.
        """
        return self._read("host", HostRecord)

    def write(self, role: Role, record: HeadRecord | HostRecord) -> None:
        """Write a record."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomic(self._path(role), record.model_dump_json(indent=2) + "\n")

    def remove(self, role: Role) -> None:
        """Remove a record."""
        self._path(role).unlink(missing_ok=True)

    def _path(self, role: Role) -> Path:
        return self.folder / f"{role}.json"

    def _read(self, role: Role, kind: type[AnyRecord]) -> AnyRecord | None:
        path = self._path(role)
        try:
            return kind.model_validate_json(path.read_bytes())
        except FileNotFoundError:
            return None
        except ValidationError as exc:
            raise RequirementError(
                f"{path} is damaged.", str(exc), "Remove it, and repeat `mesocosm cluster` up."
            ) from exc
