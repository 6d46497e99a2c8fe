"""Dependencies of saved desktops are digested once per backend, regardless of the number of desktops."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from foundation.settings import Settings
from provisioning.desktop.container.backend import ContainerBackend
from provisioning.desktop.qemu.backend import QemuBackend
from tests.standins.records import desktop_record

if TYPE_CHECKING:
    from pathlib import Path

DIGESTS = {"ubuntu-22.04": "of the chosen one", "debian-12": "of another"}
BACKENDS: dict[str, tuple[type[QemuBackend | ContainerBackend], str]] = {
    "libvirt": (QemuBackend, "desktop"),
    "container": (ContainerBackend, "desktop-container"),
}


@pytest.fixture(params=list(BACKENDS))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def digested(name: str, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count how often the dependencies of each distribution are digested."""
    counts: Counter[str] = Counter()

    def digest(backend: QemuBackend | ContainerBackend) -> str:
        counts[backend._settings.distribution] += 1
        return DIGESTS[backend._settings.distribution]

    monkeypatch.setattr(BACKENDS[name][0], "_digest_dependencies", digest)
    return counts


@pytest.fixture
def backend(name: str, tmp_path: Path) -> QemuBackend | ContainerBackend:
    return BACKENDS[name][0](Settings(state_dir=tmp_path, distribution="ubuntu-22.04"))


def test_each_distribution_is_digested_once_for_any_number_of_desktops(
    name: str, backend: QemuBackend | ContainerBackend, digested: Counter[str]
) -> None:
    for _ in range(50):
        for distribution, stamp in DIGESTS.items():
            image = f"{BACKENDS[name][1]}:{distribution}"
            assert backend.fits(desktop_record("desktop-1", name, image=image, stamp=stamp))
            assert not backend.fits(desktop_record("desktop-2", name, image=image, stamp="old"))
    assert digested == {"ubuntu-22.04": 1, "debian-12": 1}


def test_desktop_of_an_unknown_distribution_does_not_fit(
    name: str, backend: QemuBackend | ContainerBackend, digested: Counter[str]
) -> None:
    image = f"{BACKENDS[name][1]}:plan-9"
    assert not backend.fits(desktop_record("desktop-1", name, image=image, stamp="x"))
    assert not digested
