"""Tests that paused domains of type kvm start, and pass their state on, in a hypervisor container.

Their guests never run: KVM of a host may be far too slow for a desktop and still create virtual CPUs.
So this tests what does not depend on its speed: permissions for the device inside the container,
libvirt's cache of QEMU's capabilities, the CPU without features that the host refuses, and streams of
devices from a template into a fork on standby.
"""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
import tempfile
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from foundation.clock import wait_until
from foundation.errors import MesocosmError, RequirementError
from foundation.process import run
from foundation.settings import Settings, get_settings
from images.builder import find
from images.desktop.recipe import INITRD, KERNEL
from images.engine import connect
from provisioning.accelerator.detection import KVM_DEVICE, Accelerator, KvmState, try_kvm
from provisioning.desktop.qemu.connection import Hypervisor
from provisioning.desktop.qemu.domain import DomainSpec
from provisioning.desktop.qemu.identity import new_mac, new_port
from provisioning.desktop.qemu.migration import load_stream, read_verified, save_stream
from provisioning.desktop.qemu.starting import start_domain

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.docker, pytest.mark.libvirt, pytest.mark.slow]

_CREATES_CPUS = {KvmState.WORKS, KvmState.SLOW, KvmState.HANGS}
_MEMORY_MIB = 1024
_START_S = 60.0
_CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "SETGID", "SETPCAP", "SETUID")


class KvmHost(NamedTuple):
    """A hypervisor container with the KVM device, as ``docker-compose.kvm.yml`` makes it."""

    hypervisor: Hypervisor
    settings: Settings
    accelerator: Accelerator
    kernel: Path


@pytest.fixture(scope="module")
def kvm() -> Iterator[KvmHost]:
    settings = get_settings()
    if not KVM_DEVICE.exists():
        pytest.skip(f"{KVM_DEVICE} does not exist")
    accelerator = try_kvm(settings)
    if accelerator.state not in _CREATES_CPUS:
        pytest.skip(accelerator.reason)
    kernels = sorted(settings.images_dir.glob(f"desktop/*/{KERNEL}"))
    if not kernels:
        pytest.skip("no desktop image is built, whose kernel QEMU could load")
    try:
        hypervisor_image = find("hypervisor", settings)
    except MesocosmError as exc:
        pytest.skip(exc.brief)
    state_dir = Path(tempfile.mkdtemp(prefix="mesocosm-kvm-"))
    own = Settings(state_dir=state_dir)
    own.machines_dir.mkdir(parents=True)
    mounts = {str(state_dir): state_dir, str(settings.images_dir): settings.images_dir}
    with connect() as client:
        container = client.containers.run(
            hypervisor_image.tag or "",
            detach=True,
            init=True,
            cap_drop=["ALL"],
            cap_add=list(_CAPABILITIES),
            security_opt=["no-new-privileges:true"],
            devices=[f"{KVM_DEVICE}:{KVM_DEVICE}:rwm"],
            environment={"MESOCOSM_STATE_DIR": str(state_dir)},
            volumes=[
                f"{path}:{path}{':ro' if path == settings.images_dir else ''}"
                for path in mounts.values()
            ],
            network_mode="none",
            mem_limit="2g",
        )
        try:
            hypervisor = Hypervisor(own.libvirt_uri)

            def answers() -> bool:
                with contextlib.suppress(RequirementError):
                    hypervisor.require()
                    return True
                return False

            assert wait_until(answers, timeout_s=_START_S, every_s=0.2), container.logs().decode()
            yield KvmHost(hypervisor, own, accelerator, kernels[0])
            hypervisor.close()
        finally:
            container.remove(force=True)
            shutil.rmtree(state_dir)


@pytest.fixture
def spec(kvm: KvmHost) -> Iterator[DomainSpec]:
    name = f"desktop-{uuid.uuid4().hex[:6]}"
    folder = kvm.settings.machines_dir / name
    folder.mkdir()
    spec = DomainSpec(
        name=name,
        accelerator="kvm",
        memory_mib=_MEMORY_MIB,
        cpus=2,
        folder=folder,
        kernel=kvm.kernel,
        initrd=kvm.kernel.with_name(INITRD),
        ssh_port=new_port(),
        mac=new_mac(),
        cpu_without=kvm.accelerator.kvm_without,
    )
    run(["qemu-img", "create", "-q", "-f", "qcow2", str(spec.disk), "1G"]).require()
    yield spec
    for domain in kvm.hypervisor.names():
        kvm.hypervisor.destroy(domain)
    shutil.rmtree(folder)


def test_paused_domain_runs_under_kvm_with_the_cpu_of_desktops(
    kvm: KvmHost, spec: DomainSpec
) -> None:
    start_domain(kvm.hypervisor, spec, paused=True)

    assert kvm.hypervisor.state(spec.name) == "paused"
    assert kvm.hypervisor.qmp(spec.name, "query-kvm") == {"enabled": True, "present": True}
    (cpu, _other) = kvm.hypervisor.qmp(spec.name, "query-cpus-fast")
    for feature in ("vmx", "svm", "pmu", *spec.cpu_without):
        value = kvm.hypervisor.qmp(
            spec.name, "qom-get", {"path": cpu["qom-path"], "property": feature}
        )
        assert value is False, feature


def test_refused_feature_makes_the_domain_fail_without_the_retry(
    kvm: KvmHost, spec: DomainSpec
) -> None:
    if not spec.cpu_without:
        pytest.skip("This host refuses no CPU feature.")
    with pytest.raises(MesocosmError):
        start_domain(kvm.hypervisor, dataclasses.replace(spec, cpu_without=()), paused=True)


@pytest.mark.parametrize("accelerator", ["kvm", "tcg"])
def test_devices_pass_from_a_template_into_a_standby_fork(
    kvm: KvmHost, spec: DomainSpec, accelerator: str
) -> None:
    spec = dataclasses.replace(spec, accelerator=accelerator)
    ram, stream = kvm.settings.state_dir / "ram", kvm.settings.state_dir / "devices"
    template = dataclasses.replace(spec, ram=ram, is_template=True)
    start_domain(kvm.hypervisor, template, paused=True)
    before = kvm.hypervisor.qmp(spec.name, "query-vm-generation-id")["guid"]
    checksum = save_stream(kvm.hypervisor, spec.name, stream)
    kvm.hypervisor.destroy(spec.name)

    fork = dataclasses.replace(spec, ram=ram, is_incoming=True)
    start_domain(kvm.hypervisor, fork, paused=True)
    data = read_verified(stream, checksum)
    load_stream(kvm.hypervisor, spec.name, data, spec.folder / "incoming.sock")

    assert kvm.hypervisor.state(spec.name) == "paused"
    assert kvm.hypervisor.qmp(spec.name, "query-vm-generation-id")["guid"] != before


def test_snapshot_of_a_paused_domain_is_loaded_again(kvm: KvmHost, spec: DomainSpec) -> None:
    start_domain(kvm.hypervisor, spec, paused=True)

    assert kvm.hypervisor.monitor(spec.name, "savevm ready") == ""
    assert kvm.hypervisor.monitor(spec.name, "loadvm ready") == ""


def test_libvirt_starts_a_second_domain_from_its_cache_of_capabilities(
    kvm: KvmHost, spec: DomainSpec
) -> None:
    kvm.hypervisor.close()
    start_domain(kvm.hypervisor, spec, paused=True)
    kvm.hypervisor.destroy(spec.name)
    start_domain(kvm.hypervisor, spec, paused=True)

    assert kvm.hypervisor.qmp(spec.name, "query-kvm")["enabled"] is True
