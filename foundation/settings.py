"""Settings and paths of the appliance, from the environment variables MESOCOSM_*."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from foundation.environment import EnvironmentSettings
from foundation.files import digest_bytes

REPOSITORY = Path(__file__).resolve().parents[1]


class Settings(EnvironmentSettings):
    """Settings of one appliance; every field can be set by ``MESOCOSM_<NAME>``.

    Attributes:
        state_dir: folder of all the appliance's data; mounted at the same path in its containers.
        distribution: distribution of the default desktop image: ``ubuntu-22.04``, ``ubuntu-24.04``,
            ``debian-12``, or ``auto``, which selects the first that is completely available. Tasks
            may name others, for example ``image: debian-12``.
        mirror_debian: address of a Debian archive; empty uses the host's apt sources.
        mirror_ubuntu: address of an Ubuntu archive; empty uses the host's apt sources.
        mirror_mozilla: address of Mozilla's apt archive, from which Ubuntu desktops get Firefox;
            empty uses the host's apt sources.
        mirror_cloud: address of Ubuntu's cloud images, the folder that contains ``<suite>/current``.
        desktop_source: source of the default desktop image: the ``archive``, or a ``cloud-image``.
        desktop: type of desktops: ``vm``, ``container``, or ``remote``, the machines listed in
            ``remotes.yaml`` of the state folder.
        accelerator: ``auto`` boots a test guest under KVM to detect it; ``kvm`` or ``tcg`` select one.
        desktop_memory_mib: RAM of a desktop VM; memory limit of a desktop container.
        desktop_cpus: virtual CPUs of a desktop VM.
        desktop_reset: ``rewind`` leases one desktop repeatedly and forks it only if several are
            needed at once; ``fork`` gives every lease a new fork, which is destroyed after use;
            ``auto`` forks desktop VMs under KVM, and rewinds all others.
        desktop_pool: number of standby forks: a number, or ``auto`` (one per core, if memory allows).
        fork_reserve_mib: memory that is reserved for a fork of a desktop VM. A guest may write to all
            of its RAM; one that exceeds its reserve is ended if the host runs out of memory.
        machines_mib: memory that all machines of this appliance may use together, MiB; 0 is all of
            the host's, without 2 GiB for the host itself.
        end_states_mib: total disk space for end states of trials (`mesocosm run --keep-end-state`),
            MiB; end states that would exceed it are not kept.
        controller_port: loopback port of the controller (``/metrics``).
        controller_hosts: additional allowed ``Host`` values of the controller, comma-separated, such
            as ``localhost:8000`` for an SSH tunnel.
        service_port: port of the service's API and pages.
        service_address: address of the service; any address except the loopback requires TLS.
        service_tls_cert: PEM file of the service's certificate.
        service_tls_key: PEM file of its private key, without a password.
        service_hosts: additional allowed ``Host`` values of the service, comma-separated.
        service_episodes: maximum number of episodes that programs may have open at the service.
        service_rate: maximum requests per second to the service for one token; for all callers
            from one address together, four times as many.
        executor: where trials run unless a run says otherwise: ``local``, threads of the process that
            executes the run; ``process``, a process for each trial; or ``ray``, the hosts of a
            cluster (docs/cluster.md).
        cluster_port: first of the 100 ports of a Ray node; further nodes on this machine use the
            next hundreds.
        publish_prometheus: whether Prometheus has its own loopback port. Any web site that the
            user's browser visits could read it there; the controller serves it safely.
        prometheus_port: loopback port of Prometheus, if it has one.
        log_level: minimum level of the log in the state folder; ``mesocosm logs`` shows the log.
        phone: type of phones: the ``reference`` phone, or Google's ``emulator``, once its image is
            built.
        accept_android_sdk_licence: whether you accept the licence of the emulator's image to build it.
        android_apks_dir: folder of APKs to install on the emulator, with their SHA256SUMS.
        extensions: tables of kinds, backends and images from outside this project, as ``module:NAME``,
            comma-separated; the image of controller and worker contains their modules.
        place: where this process runs; set by the compose file. In a ``container``, image recipes
            are those that the host recorded, and folders of the host are not available.
        code: commit of the source tree, followed by ``-modified`` if the tree differs; set by the
            compose file, as containers do not have the repository.
    """

    model_config = SettingsConfigDict(env_prefix="MESOCOSM_", frozen=True)

    state_dir: Path = Path("/var/lib/mesocosm")
    distribution: str = "auto"
    mirror_debian: str = ""
    mirror_ubuntu: str = ""
    mirror_mozilla: str = ""
    mirror_cloud: str = ""
    desktop_source: Literal["archive", "cloud-image"] = "archive"
    desktop: str = "vm"
    accelerator: Literal["auto", "kvm", "tcg"] = "auto"
    desktop_memory_mib: int = Field(default=3072, ge=1024)
    desktop_cpus: int = Field(default=2, ge=1)
    desktop_reset: Literal["auto", "rewind", "fork"] = "auto"
    desktop_pool: str = Field(default="auto", pattern="^(auto|[0-9]+)$")
    fork_reserve_mib: int = Field(default=768, ge=128)
    machines_mib: int = Field(default=0, ge=0)
    end_states_mib: int = Field(default=20480, ge=0)
    controller_port: int = Field(default=9464, ge=1, le=65535)
    controller_hosts: str = ""
    service_port: int = Field(default=9465, ge=1, le=65535)
    service_address: str = "127.0.0.1"
    service_tls_cert: Path | None = None
    service_tls_key: Path | None = None
    service_hosts: str = ""
    service_rate: float = Field(default=500.0, ge=1, le=1e6)
    service_episodes: int = Field(default=8, ge=0, le=1000)
    executor: Literal["local", "process", "ray"] = "local"
    cluster_port: int = Field(default=21000, ge=1024, le=65400)
    publish_prometheus: bool = False
    prometheus_port: int = Field(default=9490, ge=1, le=65535)
    log_level: Literal["debug", "info", "warning"] = "info"
    phone: str = "reference"
    accept_android_sdk_licence: bool = False
    android_apks_dir: Path | None = None
    extensions: str = ""
    place: Literal["host", "container"] = "host"
    code: str = Field(default="", pattern="^([0-9a-f]{40}(-modified)?)?$")

    @property
    def owner(self) -> str:
        """Suffix that distinguishes this appliance on the host; empty in the default location."""
        state_dir = self.state_dir.resolve()
        if state_dir == Path(Settings.model_fields["state_dir"].default):
            return ""
        return digest_bytes(str(state_dir).encode())[:6]

    @property
    def images_dir(self) -> Path:
        """Content-addressed images and their manifests."""
        return self.state_dir / "images"

    @property
    def custom_images_dir(self) -> Path:
        """Copies of the folders of users' images; see `images.custom.registered`."""
        return self.state_dir / "custom"

    @property
    def machines_dir(self) -> Path:
        """One folder per VM: overlay, sockets, lock, snapshot digests; the hypervisor mounts it."""
        return self.state_dir / "machines"

    @property
    def devices_dir(self) -> Path:
        """One folder per phone, desktop container or remote desktop; the hypervisor cannot see it."""
        return self.state_dir / "devices"

    @property
    def refused_dir(self) -> Path:
        """Pictures of faulty desktops that were not saved."""
        return self.state_dir / "refused"

    @property
    def runs_dir(self) -> Path:
        """One folder per run: event logs and pictures."""
        return self.state_dir / "runs"

    @property
    def experiments_dir(self) -> Path:
        """One folder per experiment: which run has the trials of which row."""
        return self.state_dir / "experiments"

    @property
    def baselines_dir(self) -> Path:
        """Changes that no-op trials make, by task and image."""
        return self.state_dir / "baselines"

    @property
    def keys_dir(self) -> Path:
        """SSH and ADB keys of this appliance; private."""
        return self.state_dir / "keys"

    @property
    def run_dir(self) -> Path:
        """Sockets, pid files and locks of running processes."""
        return self.state_dir / "run"

    @property
    def adb_socket(self) -> Path:
        """Socket of the appliance's adb server, in a folder that only its user can access."""
        return self.run_dir / "adb" / "server.sock"

    @property
    def agent_sockets_dir(self) -> Path:
        """Folders with sockets to the model, one per trial of a registered agent that uses one."""
        return self.run_dir / "agents"

    @property
    def service_dir(self) -> Path:
        """State of the service: queue, schedules, tokens; cannot be rebuilt."""
        return self.state_dir / "service"

    @property
    def container_environment(self) -> Path:
        """Settings and keys for containers; see `foundation.container_environment`."""
        return self.service_dir / "environment.json"

    @property
    def worker_socket(self) -> Path:
        """Socket of the worker, only for its user; see `controller.service.api.forwarding`."""
        return self.run_dir / "worker.sock"

    @property
    def registered_dir(self) -> Path:
        """Copies of users' suites and agents."""
        return self.state_dir / "registered"

    @property
    def metrics_dir(self) -> Path:
        """The log of measures and the totals aggregated from it."""
        return self.state_dir / "metrics"

    @property
    def logs_dir(self) -> Path:
        """The log of all processes; see `foundation.log_file`."""
        return self.state_dir / "logs"

    @property
    def libvirt_uri(self) -> str:
        """Address of the hypervisor container's libvirtd."""
        return f"qemu+unix:///system?socket={self.run_dir}/libvirt/libvirt-sock"


@cache
def get_settings() -> Settings:
    """Read the settings, once per process."""
    return Settings()
