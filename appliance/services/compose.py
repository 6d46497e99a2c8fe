"""Run docker-compose 1.29 or compose v2, whichever is installed."""

from __future__ import annotations

import contextlib
import logging
import os
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING

from appliance.services.address import service_certificate
from appliance.services.alerts import container_user, write_config
from appliance.services.engine import docker_client
from controller.planning import code_version
from foundation.container_environment import write_environment
from foundation.errors import RequirementError, ToolFailedError, ToolMissingError
from foundation.files import digest_bytes, digest_tree, write_atomic
from foundation.process import find_tool, run, stream
from foundation.settings import REPOSITORY
from provisioning.desktop.qemu.template import templates_dir
from provisioning.fleet.allocation import hypervisor_limit_mib, memory_mib

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from foundation.settings import Settings

_log = logging.getLogger(__name__)

SERVICES = ("hypervisor", "controller", "worker", "prometheus", "alertmanager")
"""The services of docker-compose.yml that always run."""
IMAGE_OF = {"worker": "controller"}
"""Images of services that have no image of their own name."""

_PROMETHEUS_CONFIG = REPOSITORY / "monitoring" / "prometheus"
_PROJECT_LABEL = "com.docker.compose.project"
_SERVICE_LABEL = "com.docker.compose.service"
# A worker that is recreated may take `_WORKER_STOP_S` to end its trials.
_NEEDS_COMPOSE_2 = 29
"""Docker engines from this version on refuse the API of docker-compose 1."""
_UP_TIMEOUT_S = 240.0
_WORKER_STOP_S = 90
_REMOVAL_S = 30
_GOING = "is already in progress"
_DOCKER_SOCKET = Path("/var/run/docker.sock")


@dataclass(frozen=True, slots=True)
class ServiceState:
    """State of one container of the appliance.

    Attributes:
        name: of the service.
        state: docker's state: ``running``, ``restarting``, ``exited`` ...
        health: docker's health status; empty without a health check.
        image: tag of its image.
        container: its id.
    """

    name: str
    state: str
    health: str
    image: str
    container: str


@contextlib.contextmanager
def _suppress_gone() -> Iterator[None]:
    """Ignore errors because the object to remove is already gone or being removed."""
    from docker.errors import APIError  # noqa: PLC0415

    try:
        yield
    except APIError as exc:
        if exc.status_code != HTTPStatus.NOT_FOUND and _GOING not in str(exc):
            raise


def project_name(settings: Settings) -> str:
    """Return the compose project: ``mesocosm``, with a suffix unless the state folder is the default."""
    return f"mesocosm-{settings.owner}" if settings.owner else "mesocosm"


def hypervisor_folders(settings: Settings) -> tuple[Path, ...]:
    """Return the folders that the hypervisor container mounts, each at the same path."""
    own = (settings.machines_dir, templates_dir(settings), settings.run_dir / "libvirt")
    return (*own, settings.images_dir)


def hypervisor_memory_mib(meminfo: Path = Path("/proc/meminfo")) -> int:
    """Return the memory limit of all desktop VMs together, MiB."""
    return hypervisor_limit_mib(memory_mib(meminfo)[0])


def _code() -> str:
    """Return the commit of this source tree in the format of `Settings.code`; empty if unknown."""
    code = code_version()
    return code.commit + ("-modified" if code.commit and code.is_modified else "")


def _write_container_environment(settings: Settings) -> str:
    """Pass settings, keys and the service's certificate to containers; return a version of them."""
    certificate = service_certificate(settings)
    environ, written = dict(os.environ), ""
    if certificate is not None:
        # Containers can only see the state folder.
        for name, path in (("CERT", certificate.path), ("KEY", certificate.key_path)):
            copy = settings.service_dir / "tls" / f"{name.lower()}.pem"
            write_atomic(copy, path.read_bytes(), mode=0o600)
            environ[f"MESOCOSM_SERVICE_TLS_{name}"] = str(copy)
        written = digest_bytes(certificate.path.read_bytes())[:12]
    write_environment(settings.container_environment, environ)
    return f"{settings.container_environment.stat().st_mtime_ns}{written}"


def _published_address(address: str) -> str:
    """Return an address in docker's format for published ports."""
    if address == "localhost":
        return "127.0.0.1"
    return f"[{address}]" if ":" in address else address


def _docker_group() -> int:
    """Return the group that may use the engine's socket; this process' group if there is none."""
    return _DOCKER_SOCKET.stat().st_gid if _DOCKER_SOCKET.exists() else os.getegid()


def find_compose() -> list[str]:
    """Return the command of compose.

    Raises:
        RequirementError: neither form of it is installed.
    """
    try:
        if run(["docker", "compose", "version"], timeout_s=20).exit_code == 0:
            return ["docker", "compose"]
    except ToolMissingError:
        pass
    if find_tool("docker-compose"):
        return ["docker-compose"]
    raise RequirementError(
        "Neither docker-compose nor docker's compose plugin is installed.",
        resolution="Run `make up`, which installs one, or `apt-get install docker-compose`.",
    )


def require_compatible_compose() -> None:
    """Check that the engine, which must run, speaks the API of the installed compose.

    Raises:
        RequirementError: compose is missing, or it is docker-compose 1 with a newer engine.
    """
    command = find_compose()
    shown = run([*command, "version", "--short"], timeout_s=20).text.strip()
    if not shown.startswith("1."):
        return
    with docker_client() as client:
        version = str(client.version()["Version"])
    major = version.partition(".")[0]
    if major.isdigit() and int(major) >= _NEEDS_COMPOSE_2:
        raise RequirementError(
            f"docker-compose {shown} cannot use Docker {version}.",
            resolution="Install compose 2: `apt-get install docker-compose-plugin` (Docker's archive) or "
            "`docker-compose-v2` (Ubuntu's).",
        )


class Compose:
    """The containers of one appliance.

    Args:
        settings: state folder and ports.
        kvm: add the device ``/dev/kvm`` to the hypervisor.
    """

    def __init__(self, settings: Settings, *, kvm: bool = False) -> None:
        self.settings = settings
        self.project = project_name(settings)
        self.env_file = settings.state_dir / "compose.env"
        self._kvm = kvm

    def write_env(self, images: Mapping[str, str]) -> None:
        """Write the variables of docker-compose.yml, and create the folders that it mounts.

        Docker would create them too, but owned by root. Settings and keys of this environment are
        written to a separate file; see `foundation.container_environment`.

        Args:
            images: tags of images by name.

        Raises:
            SettingsError: that file is damaged, or the alert settings cannot work.
            UsageError: the service's address settings cannot work: TLS is missing or invalid.
        """
        settings = self.settings
        written = _write_container_environment(settings)
        for folder in hypervisor_folders(settings):
            folder.mkdir(parents=True, exist_ok=True)
        rows = {
            "MESOCOSM_STATE_DIR": str(settings.state_dir),
            "MESOCOSM_HYPERVISOR_MEMORY_MIB": str(hypervisor_memory_mib()),
            "MESOCOSM_CONTROLLER_PORT": str(settings.controller_port),
            "MESOCOSM_CONTROLLER_HOSTS": settings.controller_hosts,
            "MESOCOSM_PROMETHEUS_PORT": str(settings.prometheus_port),
            "MESOCOSM_ACCELERATOR": self.accelerator,
            "MESOCOSM_PROMETHEUS_CONFIG": digest_tree(_PROMETHEUS_CONFIG),
            "MESOCOSM_ALERTMANAGER_CONFIG": digest_bytes(write_config(settings).encode()),
            "MESOCOSM_ALERTMANAGER_USER": ":".join(map(str, container_user())),
            "MESOCOSM_SERVICE_PORT": str(settings.service_port),
            "MESOCOSM_CODE": _code(),
            "MESOCOSM_USER": f"{os.geteuid()}:{os.getegid()}",
            "MESOCOSM_DOCKER_GROUP": str(_docker_group()),
            "MESOCOSM_DOCKER_CLIENT": find_tool("docker") or os.devnull,
            "MESOCOSM_SETTINGS_WRITTEN": written,
            "MESOCOSM_SERVICE_PUBLISHED": _published_address(settings.service_address),
            **{f"MESOCOSM_{name.upper()}_IMAGE": tag for name, tag in images.items()},
        }
        write_atomic(self.env_file, "".join(f"{key}={value}\n" for key, value in rows.items()))

    @property
    def accelerator(self) -> str:
        """Accelerator of desktop VMs, ``kvm`` or ``tcg``."""
        return "kvm" if self._kvm else "tcg"

    def argv(self, *args: str) -> list[str]:
        """Return the full command line for arguments of compose.

        Raises:
            RequirementError: compose is not installed.
        """
        files = ["docker-compose.yml"]
        if self._kvm:
            files.append("docker-compose.kvm.yml")
        if self.settings.publish_prometheus:
            files.append("docker-compose.prometheus.yml")
        chosen = [part for name in files for part in ("-f", str(REPOSITORY / name))]
        return [
            *find_compose(),
            *("--env-file", str(self.env_file), "-p", self.project),
            *chosen,
            *args,
        ]

    def up(self, *services: str) -> None:
        """Start services that do not run, and recreate those that changed.

        Args:
            services: only these; all if empty.

        Raises:
            ToolFailedError: compose failed; includes its output.
        """
        _log.info("bringing up %s", ", ".join(services) or "all services")
        argv = self.argv("up", "-d", *(services or ("--remove-orphans",)))
        result = stream(argv, on_line=lambda _line: None, timeout_s=_UP_TIMEOUT_S, env=self._env())
        if result.exit_code:
            raise ToolFailedError(
                "Cannot start the appliance's containers.",
                details=result.text[-2000:],
                resolution="Run `mesocosm down`, then `mesocosm up` again.",
            )

    def _env(self) -> dict[str, str]:
        """Return overrides for this process' MESOCOSM_*, which would take precedence over the file."""
        rows = (line.partition("=") for line in self.env_file.read_text().splitlines())
        return {key: value for key, _, value in rows if key in os.environ}

    def services(self) -> list[ServiceState]:
        """Return the state of each container from the engine, without compose or the env file.

        Raises:
            RequirementError: the engine does not answer.
        """
        with docker_client() as client:
            containers = client.containers.list(
                all=True,
                ignore_removed=True,
                filters={"label": f"{_PROJECT_LABEL}={self.project}"},
            )
            states = [
                ServiceState(
                    container.labels.get(_SERVICE_LABEL, str(container.name)),
                    str(container.status),
                    str(container.attrs["State"].get("Health", {}).get("Status", "")),
                    str(container.attrs["Config"]["Image"]),
                    str(container.id),
                )
                for container in containers
            ]
        return sorted(states, key=lambda state: state.name)

    def stop(self, services: Collection[str]) -> list[str]:
        """Stop running services, letting running trials end, until `start` or `up`; return which."""
        _log.info("stopping %s", ", ".join(services))
        stopped = []
        with docker_client(timeout_s=_WORKER_STOP_S + 30) as client:
            for state in self.services():
                if state.name in services and state.state in {"running", "restarting"}:
                    client.containers.get(state.container).stop(timeout=_WORKER_STOP_S)
                    stopped.append(state.name)
        return stopped

    def start(self, services: Collection[str]) -> list[str]:
        """Start services whose container exists but does not run; return which."""
        _log.info("starting %s", ", ".join(services))
        started = []
        with docker_client(timeout_s=60) as client:
            for state in self.services():
                if state.name in services and state.state in {"exited", "created"}:
                    client.containers.get(state.container).start()
                    started.append(state.name)
        return started

    def tail(self, service: str, lines: int = 15) -> str:
        """Return the last lines of a service's log; empty if it has no container."""
        for state in self.services():
            if state.name == service:
                with docker_client() as client:
                    log = client.containers.get(state.container).logs(tail=lines)
                return str(log.decode(errors="replace"))
        return ""

    def remove(self, *, volumes: bool) -> list[str]:
        """Stop and remove the containers and networks; return what was removed.

        Finds them by label, so that this works even if the checkout, images or env file changed.

        Args:
            volumes: also remove Prometheus's data.
        """
        _log.info("removing the services")
        label: dict[str, str | list[str] | bool] = {"label": f"{_PROJECT_LABEL}={self.project}"}
        removed = []
        with docker_client(timeout_s=120) as client:
            for container in client.containers.list(all=True, ignore_removed=True, filters=label):
                with _suppress_gone():
                    container.stop(timeout=20)
                    container.remove(force=True, v=True)
                with _suppress_gone():
                    container.wait(condition="removed", timeout=_REMOVAL_S)
                removed.append(str(container.name))
            for network in client.networks.list(filters=label):
                with _suppress_gone():
                    network.remove()
            for volume in client.volumes.list(filters=label) if volumes else []:
                with _suppress_gone():
                    volume.remove(force=True)
                removed.append(f"volume {volume.name}")
        return removed
