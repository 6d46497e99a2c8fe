"""Dependencies of saved desktops are digested once per backend, regardless of the number of desktops."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from foundation.errors import ImageMissingError
from foundation.settings import Settings
from provisioning.desktop.container.backend import ContainerBackend
from provisioning.desktop.qemu.backend import QemuBackend
from provisioning.fleet.host_backends import HostBackends
from tests.standins.records import desktop_record

if TYPE_CHECKING:
    from pathlib import Path

    from provisioning.machine_record import MachineRecord

DIGESTS = {"ubuntu-22.04": "of the chosen one", "debian-12": "of another"}
BACKENDS: dict[str, tuple[type[QemuBackend | ContainerBackend], str, str]] = {
    "libvirt": (QemuBackend, "vm", "desktop"),
    "container": (ContainerBackend, "container", "desktop-container"),
}


@pytest.fixture(params=list(BACKENDS))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def digested(name: str, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count how often the dependencies of each distribution are digested."""
    counts: Counter[str] = Counter()

    def digest(backend: QemuBackend | ContainerBackend) -> str:
        distribution = backend._spec.image or "ubuntu-22.04"
        counts[distribution] += 1
        return DIGESTS[distribution]

    monkeypatch.setattr(BACKENDS[name][0], "_digest_dependencies", digest)
    return counts


@pytest.fixture
def backends(name: str, tmp_path: Path) -> HostBackends:
    chosen = BACKENDS[name][1]
    return HostBackends(Settings(state_dir=tmp_path, desktop=chosen, distribution="ubuntu-22.04"))


def fits(backends: HostBackends, record: MachineRecord) -> bool:
    backend = backends.of_record(record)
    assert backend is not None
    return backend.fits(record)


def test_each_distribution_is_digested_once_for_any_number_of_desktops(
    name: str, backends: HostBackends, digested: Counter[str]
) -> None:
    for _ in range(50):
        for distribution, stamp in DIGESTS.items():
            image = f"{BACKENDS[name][2]}:{distribution}"
            assert fits(backends, desktop_record("desktop-1", name, image=image, stamp=stamp))
            assert not fits(backends, desktop_record("desktop-2", name, image=image, stamp="old"))
    assert digested == {"ubuntu-22.04": 1, "debian-12": 1}


def test_desktop_of_an_unknown_distribution_has_no_backend(
    name: str, backends: HostBackends, digested: Counter[str]
) -> None:
    image = f"{BACKENDS[name][2]}:plan-9"
    assert backends.of_record(desktop_record("desktop-1", name, image=image, stamp="x")) is None
    assert not digested


@pytest.mark.slow
def test_desktop_of_an_image_that_is_not_built_does_not_fit(
    name: str, backends: HostBackends
) -> None:
    image = f"{BACKENDS[name][2]}:debian-12"
    assert not fits(backends, desktop_record("desktop-1", name, image=image, stamp="x"))
    default = desktop_record("desktop-1", name, image=f"{BACKENDS[name][2]}:ubuntu-22.04")
    with pytest.raises(ImageMissingError):
        fits(backends, default)
