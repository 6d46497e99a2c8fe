"""Kernels that depend on firmware, installed without it from a fake archive; apt is real."""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from foundation.errors import ToolMissingError
from foundation.process import run
from foundation.settings import Settings
from images import distribution as distribution_module
from images.bootstrap import bootstrap
from images.browser import install_options
from images.desktop.firmware import NAME, make_firmware_package
from images.distribution import DISTRIBUTIONS
from images.log import ignore_progress
from tests.standins.archive import SigningKey, StandInArchive

if TYPE_CHECKING:
    from collections.abc import Iterator

FIRMWARE = ("linux-firmware", "intel-microcode", "amd64-microcode")
KERNEL = {"DEBIAN/control": f"Depends: {', '.join(FIRMWARE)}\n"}


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StandInArchive]:
    """A fake Ubuntu archive, whose kernel depends on firmware; the host knows no other archive."""
    monkeypatch.setattr(distribution_module, "read_archives", list)
    with tempfile.TemporaryDirectory(prefix="keys-") as home:
        try:
            key = SigningKey(Path(home) / "key", "ubuntu")
        except ToolMissingError as exc:
            pytest.skip(exc.brief)
        (tmp_path / "ubuntu.gpg").write_bytes(key.public())
        with StandInArchive(tmp_path / "archive", key) as archive:
            packages = [(name, "1.0") for name in ("linux-image-generic", *FIRMWARE)]
            contents = {"linux-image-generic": KERNEL}
            archive.publish("jammy", *packages, origin="Ubuntu", contents=contents)
            for suite in ("jammy-updates", "jammy-security"):
                archive.publish(suite, origin="Ubuntu")
            yield archive
        key.close()


@pytest.mark.slow
@pytest.mark.parametrize("is_asked_for", [True, False])
def test_kernel_is_installed_without_the_firmware_it_depends_on(
    archive: StandInArchive, tmp_path: Path, *, is_asked_for: bool
) -> None:
    ubuntu = dataclasses.replace(
        DISTRIBUTIONS["ubuntu-22.04"],
        components=("main",),
        keyring=str(tmp_path / "ubuntu.gpg"),
    )
    package = make_firmware_package(ubuntu, tmp_path)
    assert package is not None
    root = tmp_path / "root"
    bootstrap(
        ubuntu,
        Settings(mirror_ubuntu=archive.uri),
        root,
        ignore_progress,
        packages=["linux-image-generic"],
        # Unpacked from outside because the root has no system.
        options=[*(install_options(package) if is_asked_for else ()), "--mode=chrootless"],
        variant="custom",
    )
    argv = ["dpkg-query", f"--admindir={root}/var/lib/dpkg", "-W", "-f", "${Package}\n"]
    installed = set(run(argv).require().text.split())
    more = {NAME} if is_asked_for else set(FIRMWARE)
    assert installed == {"linux-image-generic"} | more


def test_kernel_without_firmware_dependency_needs_no_package(tmp_path: Path) -> None:
    assert make_firmware_package(DISTRIBUTIONS["debian-12"], tmp_path) is None
    assert list(tmp_path.iterdir()) == []
