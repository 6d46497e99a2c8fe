"""Drive docker-compose 1.29 or compose v2, whichever there is."""

from __future__ import annotations

import contextlib
import os
import re
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING

from appliance.base.errors import RequirementError, ToolFailedError, ToolMissingError
from appliance.base.files import digest_bytes, digest_tree, write_atomic
from appliance.base.handed_environment import hand_over
from appliance.base.process import find_tool, run, stream
from appliance.base.settings import REPOSITORY
from appliance.bringup.address import service_certificate
from appliance.bringup.alerts import container_user, write_config
from appliance.bringup.engine import docker_client
from controller.planning import code_version
from provisioning.desktop.qemu.template import templates_dir

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from appliance.base.settings import Settings

SERVICES = ("hypervisor", "controller", "worker", "prometheus", "alertmanager")
"""The services of docker-compose.yml that always run."""
IMAGE_OF = {"worker": "controller"}
"""The image of a service that has none of its own name."""

_PROMETHEUS_CONFIG = REPOSITORY / "monitoring" / "prometheus"
_PROJECT_LABEL = "com.docker.compose.project"
_SERVICE_LABEL = "com.docker.compose.service"
# A worker that is made anew may take `_WORKER_STOP_S` to end its trials.
_UP_TIMEOUT_S = 240.0
_WORKER_STOP_S = 90
_REMOVAL_S = 30
_GOING = "is already in progress"
_DOCKER_SOCKET = Path("/var/run/docker.sock")
# The host itself, docker, the controller, Prometheus and who runs the trials.
_HOST_MIB = 2048
_MIN_HYPERVISOR_MIB = 1024


@dataclass(frozen=True, slots=True)
class ServiceState:
    """How one container of the appliance is.

    Attributes:
        name: of the service.
        state: docker's word: ``running``, ``restarting``, ``exited`` ...
        health: docker's word, or empty without a health check.
        image: tag it was made from.
        container: its id.
    """

    name: str
    state: str
    health: str
    image: str
    container: str


@contextlib.contextmanager
def _suppress_gone() -> Iterator[None]:
    """Let what is to be removed be gone already, or be removed by somebody else just now."""
    from docker.errors import APIError  # noqa: PLC0415

    try:
        yield
    except APIError as exc:
        if exc.status_code != HTTPStatus.NOT_FOUND and _GOING not in str(exc):
            raise


def project_name(settings: Settings) -> str:
    """Name the compose project: ``mesocosm``, with a suffix where the state is not in its default place."""
    return f"mesocosm-{settings.owner}" if settings.owner else "mesocosm"


def hypervisor_folders(settings: Settings) -> tuple[Path, ...]:
    """Return the folders that the hypervisor container mounts, each at its own path."""
    own = (settings.machines_dir, templates_dir(settings), settings.run_dir / "libvirt")
    return (*own, settings.images_dir)


def hypervisor_memory_mib(meminfo: Path = Path("/proc/meminfo")) -> int:
    """Return the memory limit of all desktop VMs together: the host's less what it needs itself."""
    match = re.search(r"^MemTotal:\s+(\d+) kB$", meminfo.read_text(), flags=re.MULTILINE)
    total_mib = int(match[1]) >> 10 if match else 0
    return max(total_mib - _HOST_MIB, total_mib // 2, _MIN_HYPERVISOR_MIB)


def _code() -> str:
    """Return the commit of this source tree as `Settings.code` takes it; empty where it is not known."""
    code = code_version()
    return code.commit + ("-modified" if code.commit and code.is_modified else "")


def _hand_over(settings: Settings) -> str:
    """Hand settings, keys and the service's certificate to containers; return what changes when they do."""
    certificate = service_certificate(settings)
    environ, written = dict(os.environ), ""
    if certificate is not None:
        # Containers see the state folder alone.
        for name, path in (("CERT", certificate.path), ("KEY", certificate.key_path)):
            copy = settings.service_dir / "tls" / f"{name.lower()}.pem"
            write_atomic(copy, path.read_bytes(), mode=0o600)
            environ[f"MESOCOSM_SERVICE_TLS_{name}"] = str(copy)
        written = digest_bytes(certificate.path.read_bytes())[:12]
    hand_over(settings.handed_environment, environ)
    return f"{settings.handed_environment.stat().st_mtime_ns}{written}"


def _published_address(address: str) -> str:
    """Return an address as docker publishes ports at it."""
    if address == "localhost":
        return "127.0.0.1"
    return f"[{address}]" if ":" in address else address


def _docker_group() -> int:
    """Return the group that may use the engine's socket; this process' own where there is none."""
    return _DOCKER_SOCKET.stat().st_gid if _DOCKER_SOCKET.exists() else os.getegid()


def find_compose() -> list[str]:
    """Return the words that call compose.

    Raises:
        RequirementError: there is neither form of it.
    """
    try:
        if run(["docker", "compose", "version"], timeout_s=20).exit_code == 0:
            return ["docker", "compose"]
    except ToolMissingError:
        pass
    if find_tool("docker-compose"):
        return ["docker-compose"]
    raise RequirementError(
        "There is no docker-compose and no compose plugin of docker.",
        resolution="Run `make up`, which installs one, or `apt-get install docker-compose`.",
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
        """Write the variables of docker-compose.yml, and make the folders that it mounts.

        Docker would make them, too, but as root's. Settings and keys of this environment go into a file of
        their own; see `appliance.base.handed_environment`.

        Args:
            images: tag of the image by its name.

        Raises:
            SettingsError: that file is damaged, or alerts cannot be sent as the settings ask for.
            UsageError: the service cannot be reached as the settings ask for: TLS lacks or is wrong.
        """
        settings = self.settings
        written = _hand_over(settings)
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
        """What desktop VMs run on, ``kvm`` or ``tcg``."""
        return "kvm" if self._kvm else "tcg"

    def argv(self, *args: str) -> list[str]:
        """Return the whole command line for some arguments of compose.

        Raises:
            RequirementError: there is no compose.
        """
        files = ["docker-compose.yml"]
        if self._kvm:
            files.append("docker-compose.kvm.yml")
        if self.settings.publish_prometheus:
            files.append("docker-compose.prometheus.yml")
        chosen = [word for name in files for word in ("-f", str(REPOSITORY / name))]
        return [
            *find_compose(),
            *("--env-file", str(self.env_file), "-p", self.project),
            *chosen,
            *args,
        ]

    def up(self, *services: str) -> None:
        """Start what does not run, start anew what changed.

        Args:
            services: those alone; all where none is named.

        Raises:
            ToolFailedError: compose failed; with its words.
        """
        argv = self.argv("up", "-d", *(services or ("--remove-orphans",)))
        result = stream(argv, on_line=lambda _line: None, timeout_s=_UP_TIMEOUT_S, env=self._env())
        if result.exit_code:
            raise ToolFailedError(
                "The appliance's containers could not be started.",
                details=result.text[-2000:],
                resolution="Run `mesocosm down`, then `mesocosm up` again.",
            )

    def _env(self) -> dict[str, str]:
        """Shadow this process' own MESOCOSM_*: they would win over the file."""
        rows = (line.partition("=") for line in self.env_file.read_text().splitlines())
        return {key: value for key, _, value in rows if key in os.environ}

    def services(self) -> list[ServiceState]:
        """Return how each container is; asks the engine, needs no compose and no env file.

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
        """Stop services that run, running trials first, until `start` or `up`; return which."""
        stopped = []
        with docker_client(timeout_s=_WORKER_STOP_S + 30) as client:
            for state in self.services():
                if state.name in services and state.state in {"running", "restarting"}:
                    client.containers.get(state.container).stop(timeout=_WORKER_STOP_S)
                    stopped.append(state.name)
        return stopped

    def start(self, services: Collection[str]) -> list[str]:
        """Start services that have a container that does not run; return which."""
        started = []
        with docker_client(timeout_s=60) as client:
            for state in self.services():
                if state.name in services and state.state in {"exited", "created"}:
                    client.containers.get(state.container).start()
                    started.append(state.name)
        return started

    def tail(self, service: str, lines: int = 15) -> str:
        """Return the last lines of a service's log; empty when it has no container."""
        for state in self.services():
            if state.name == service:
                with docker_client() as client:
                    log = client.containers.get(state.container).logs(tail=lines)
                return str(log.decode(errors="replace"))
        return ""

    def remove(self, *, volumes: bool) -> list[str]:
        """Stop and remove the containers and networks, by label; gives what was removed.

        By label, so that it works after the checkout, the images or the env file have changed.

        Args:
            volumes: also remove what Prometheus stored.
        """
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
