"""Where things are on this host and how the appliance is set: environment MESOCOSM_*."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from appliance.base.environment import EnvironmentSettings
from appliance.base.files import digest_bytes

REPOSITORY = Path(__file__).resolve().parents[2]


class Settings(EnvironmentSettings):
    """Settings of one appliance; every field can be set by ``MESOCOSM_<NAME>``.

    Attributes:
        state_dir: everything the appliance keeps; mounted at the same path in its containers.
        distribution: what the desktop image is made of: ``ubuntu-22.04``, ``ubuntu-24.04``,
            ``debian-12``, or ``auto``, which takes the first of them that can be had whole.
        mirror_debian: address of a Debian archive; empty takes the host's own apt sources.
        mirror_ubuntu: address of an Ubuntu archive; empty takes the host's own apt sources.
        mirror_mozilla: address of Mozilla's apt archive, which Ubuntu desktops get Firefox from;
            empty takes the host's own apt sources.
        mirror_cloud: address of Ubuntu's cloud images, the folder that holds ``<suite>/current``.
        desktop_source: what the desktop image is made of: the ``archive``, or a ``cloud-image``.
        desktop: what desktops are made as: ``vm``, ``container``, or ``remote``, the machines
            named in ``remotes.yaml`` of the state folder.
        accelerator: ``auto`` boots something under KVM to find out; ``kvm`` or ``tcg`` say it.
        desktop_memory_mib: RAM of a desktop VM; limit of a desktop container.
        desktop_cpus: virtual CPUs of a desktop VM.
        desktop_reset: ``rewind`` lends one desktop again and again and forks it only when more are
            wanted at once; ``fork`` gives every lease a new fork, destroyed after use.
        desktop_pool: how many forks stand by: a number, or ``auto`` (one a core, memory allowing).
        fork_reserve_mib: memory that is reserved for a fork of a desktop VM; a guest may write to all
            of its RAM, and one that outgrows this is ended when the host runs short.
        end_states_mib: disk that the end states of trials (`mesocosm run --keep-end-state`) may take
            together, MiB; what would exceed it is not kept.
        controller_port: loopback port of the controller (``/metrics``).
        controller_hosts: further values of ``Host`` under which the controller is reached, with
            commas, such as ``localhost:8000`` for an SSH tunnel.
        service_port: port of the service's API and pages.
        service_address: address that the service is reached at; another than the loopback needs TLS.
        service_tls_cert: PEM file of the certificate that the service shows.
        service_tls_key: PEM file of its private key, without a password.
        service_hosts: further values of ``Host`` under which the service is reached, with commas.
        service_episodes: how many episodes programs may have open at the service at once.
        service_rate: how many requests a second one token may make of the service; all callers of
            one address together, four times as many.
        publish_prometheus: whether Prometheus has a loopback port of its own. Any web site that its
            user's browser visits could read it there; the controller serves it safely.
        prometheus_port: loopback port of Prometheus, where it has one.
        log_level: what the log of the state folder takes; ``mesocosm logs`` shows it.
        phone: what phones are: the ``reference`` phone, or Google's ``emulator``, once its image is
            built.
        accept_android_sdk_licence: whether who builds the emulator's image accepts its licence.
        android_apks_dir: folder of APKs to install on the emulator, with their SHA256SUMS.
        place: where this process runs; the compose file sets it. In a ``container`` recipes of images
            are what the host recorded, and folders of the host are not there.
        code: commit of the source tree, with ``-modified`` after it where that differs; the compose
            file sets it, as containers hold no repository.
    """

    model_config = SettingsConfigDict(env_prefix="MESOCOSM_", frozen=True)

    state_dir: Path = Path("/var/lib/mesocosm")
    distribution: str = "auto"
    mirror_debian: str = ""
    mirror_ubuntu: str = ""
    mirror_mozilla: str = ""
    mirror_cloud: str = ""
    desktop_source: Literal["archive", "cloud-image"] = "archive"
    desktop: Literal["vm", "container", "remote"] = "vm"
    accelerator: Literal["auto", "kvm", "tcg"] = "auto"
    desktop_memory_mib: int = Field(default=3072, ge=1024)
    desktop_cpus: int = Field(default=2, ge=1)
    desktop_reset: Literal["rewind", "fork"] = "rewind"
    desktop_pool: str = Field(default="auto", pattern="^(auto|[0-9]+)$")
    fork_reserve_mib: int = Field(default=768, ge=128)
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
    publish_prometheus: bool = False
    prometheus_port: int = Field(default=9490, ge=1, le=65535)
    log_level: Literal["debug", "info", "warning"] = "info"
    phone: Literal["reference", "emulator"] = "reference"
    accept_android_sdk_licence: bool = False
    android_apks_dir: Path | None = None
    place: Literal["host", "container"] = "host"
    code: str = Field(default="", pattern="^([0-9a-f]{40}(-modified)?)?$")

    @property
    def owner(self) -> str:
        """What tells this appliance from others of the host; empty for one in the default place."""
        state_dir = self.state_dir.resolve()
        if state_dir == Path(Settings.model_fields["state_dir"].default):
            return ""
        return digest_bytes(str(state_dir).encode())[:6]

    @property
    def images_dir(self) -> Path:
        """Content-addressed images and their manifests."""
        return self.state_dir / "images"

    @property
    def machines_dir(self) -> Path:
        """One folder a machine: overlay, sockets, lock, snapshot digests."""
        return self.state_dir / "machines"

    @property
    def refused_dir(self) -> Path:
        """Pictures of desktops that were not fit to be saved."""
        return self.state_dir / "refused"

    @property
    def runs_dir(self) -> Path:
        """One folder a run: event logs and pictures."""
        return self.state_dir / "runs"

    @property
    def baselines_dir(self) -> Path:
        """What no-op trials change, by task and image."""
        return self.state_dir / "baselines"

    @property
    def keys_dir(self) -> Path:
        """SSH and ADB keys of this appliance; private."""
        return self.state_dir / "keys"

    @property
    def run_dir(self) -> Path:
        """Sockets, pid files and locks of what runs now."""
        return self.state_dir / "run"

    @property
    def adb_socket(self) -> Path:
        """Socket of the appliance's own adb server, in a folder for its user alone."""
        return self.run_dir / "adb" / "server.sock"

    @property
    def agent_sockets_dir(self) -> Path:
        """One folder a trial of a registered agent that asks a model: the socket that leads to it."""
        return self.run_dir / "agents"

    @property
    def service_dir(self) -> Path:
        """The service's own state: queue, schedules, tokens; not rebuildable."""
        return self.state_dir / "service"

    @property
    def handed_environment(self) -> Path:
        """Settings and keys for containers; see `appliance.base.handed_environment`."""
        return self.service_dir / "environment.json"

    @property
    def worker_socket(self) -> Path:
        """Socket of the worker, for its user alone; see `controller.service.api.forwarding`."""
        return self.run_dir / "worker.sock"

    @property
    def registered_dir(self) -> Path:
        """Copies of users' suites and agents."""
        return self.state_dir / "registered"

    @property
    def metrics_dir(self) -> Path:
        """The log of measures and what was folded out of it."""
        return self.state_dir / "metrics"

    @property
    def logs_dir(self) -> Path:
        """The log of all processes; see `appliance.base.log_file`."""
        return self.state_dir / "logs"

    @property
    def libvirt_uri(self) -> str:
        """Address of the hypervisor container's libvirtd."""
        return f"qemu+unix:///system?socket={self.run_dir}/libvirt/libvirt-sock"


@cache
def get_settings() -> Settings:
    """Read the settings once a process."""
    return Settings()
