"""Fake archives of Debian and Ubuntu on loopback; apt, dpkg and mmdebstrap are real."""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from foundation.errors import ImageBuildError, ToolError, ToolMissingError
from foundation.process import run
from foundation.settings import Settings
from images import distribution as distribution_module
from images.bootstrap import bootstrap
from images.browser import FIREFOX, GNOME_WEB, SCRATCH, install_options, prepare_browser
from images.debian_firefox import adapt_control, make_debian_firefox
from images.distribution import DISTRIBUTIONS
from images.log import ignore_progress
from tests.standins.archive import SigningKey, StandInArchive

if TYPE_CHECKING:
    from collections.abc import Iterator

    from images.distribution import Distribution

VERSION = "153.7.0esr-1~deb12u1"
NOWHERE = "http://127.0.0.1:9/debian"
FILES = {
    "firefox-esr": {
        "DEBIAN/control": "Depends: libc6 (>= 2.35), libvpx7 (>= 1.12.0), libx11-xcb1 (>= 2:1.8.4)\n",
        "usr/lib/firefox-esr/dependentlibs.list": "libnss3.so\nlibxul.so\n",
        "usr/lib/firefox-esr/libxul.so": "the engine",
    },
    "libvpx7": {"usr/lib/x86_64-linux-gnu/libvpx.so.7": "the codec"},
    "libc6": {
        "lib/x86_64-linux-gnu/libc.so.6": "the C library",
        "lib/x86_64-linux-gnu/ld-linux-x86-64.so.2": "the loader",
    },
}


@pytest.fixture(scope="module")
def key() -> Iterator[SigningKey]:
    with tempfile.TemporaryDirectory(prefix="keys-") as home:
        try:
            made = SigningKey(Path(home) / "debian", "debian")
        except ToolMissingError as exc:
            pytest.skip(exc.brief)
        yield made
        made.close()


@pytest.fixture(scope="module")
def debian(
    key: SigningKey, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Distribution, StandInArchive]]:
    folder = tmp_path_factory.mktemp("debian")
    keyring = folder / "debian.gpg"
    keyring.write_bytes(key.public())
    with StandInArchive(folder / "archive", key) as archive:
        packages = (("firefox-esr", VERSION), ("libvpx7", "1.12.0-1"), ("libc6", "2.36"))
        archive.publish("bookworm", *packages, origin="Debian", contents=FILES)
        archive.publish("bookworm-updates", origin="Debian")
        archive.publish("bookworm-security", origin="Debian")
        bookworm = dataclasses.replace(
            DISTRIBUTIONS["debian-12"], security_path=None, keyring=str(keyring)
        )
        yield bookworm, archive


@pytest.fixture(autouse=True)
def _no_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host without known archives."""
    monkeypatch.setattr(distribution_module, "read_archives", list)
    monkeypatch.setattr("images.firefox.read_archives", list)


@pytest.mark.slow
def test_debian_firefox_is_packed_with_the_library_missing_on_ubuntu(
    debian: tuple[Distribution, StandInArchive], tmp_path: Path
) -> None:
    distribution, archive = debian
    settings = Settings(mirror_debian=archive.uri)

    file, version = make_debian_firefox(
        settings, tmp_path, ignore_progress, distribution=distribution, with_c_library=False
    )

    assert version == f"{VERSION}+mesocosm1"
    assert [path.name for path in tmp_path.iterdir()] == [file.name]
    assert file.name in SCRATCH
    run(["dpkg-deb", "--raw-extract", str(file), str(tmp_path / "out")]).require()
    program = tmp_path / "out/usr/lib/firefox-esr"
    assert (program / "libvpx.so.7").read_text() == "the codec"
    assert (program / "libxul.so").read_text() == "the engine"
    listed = (program / "dependentlibs.list").read_text().split()
    assert listed == ["libnss3.so", "libvpx.so.7", "libxul.so"]
    depends = run(["dpkg-deb", "--field", str(file), "Depends"]).text.strip()
    assert depends == "libc6 (>= 2.35), libx11-xcb1"
    assert not (program / "glibc").exists()


@pytest.mark.slow
def test_debian_c_library_is_packed_if_the_own_one_is_too_old(
    debian: tuple[Distribution, StandInArchive], tmp_path: Path
) -> None:
    distribution, archive = debian

    file, _version = make_debian_firefox(
        Settings(mirror_debian=archive.uri),
        tmp_path,
        ignore_progress,
        distribution=distribution,
        with_c_library=True,
    )

    run(["dpkg-deb", "--raw-extract", str(file), str(tmp_path / "out")]).require()
    glibc = tmp_path / "out/usr/lib/firefox-esr/glibc"
    assert (glibc / "libc.so.6").read_text() == "the C library"
    assert (glibc / "ld-linux-x86-64.so.2").stat().st_mode & 0o111
    script = (tmp_path / "out/DEBIAN/postinst").read_text()
    assert "--set-interpreter /usr/lib/firefox-esr/glibc/ld-linux-x86-64.so.2" in script
    assert run(["sh", "-n", str(tmp_path / "out/DEBIAN/postinst")]).exit_code == 0
    depends = run(["dpkg-deb", "--field", str(file), "Depends"]).text
    assert depends.startswith("patchelf, ")


@pytest.mark.slow
def test_archive_signed_by_somebody_else_is_rejected(
    debian: tuple[Distribution, StandInArchive], tmp_path: Path
) -> None:
    distribution, archive = debian
    other = tmp_path / "other.gpg"
    stranger = SigningKey(tmp_path / "home", "stranger")
    other.write_bytes(stranger.public())
    stranger.close()
    distrusting = dataclasses.replace(distribution, keyring=str(other))
    with pytest.raises(ToolError, match="apt-get"):
        make_debian_firefox(
            Settings(mirror_debian=archive.uri),
            tmp_path,
            ignore_progress,
            distribution=distrusting,
            with_c_library=False,
        )
    assert not (tmp_path / "debian-firefox").exists()


def test_control_file_without_dependencies_is_rejected() -> None:
    with pytest.raises(ImageBuildError, match="without version or dependencies"):
        adapt_control("Package: firefox-esr\nVersion: 1\n")


@pytest.mark.slow
def test_ubuntu_gets_debian_firefox_without_the_mozilla_archive(
    debian: tuple[Distribution, StandInArchive], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distribution, archive = debian
    monkeypatch.setitem(DISTRIBUTIONS, "debian-12", distribution)
    settings = Settings(mirror_debian=archive.uri)

    browser = prepare_browser(DISTRIBUTIONS["ubuntu-22.04"], settings, tmp_path, ignore_progress)

    assert browser.name == FIREFOX
    assert browser.package_file is not None
    assert set(install_options(browser.package_file)) < set(browser.options)
    assert VERSION in browser.note
    assert "MESOCOSM_MIRROR_MOZILLA" in browser.notes()["browser_reason"]
    assert {path.name for path in tmp_path.iterdir()} <= set(SCRATCH)


@pytest.mark.slow
def test_package_is_installed_from_a_file_that_is_removed_again(
    debian: tuple[Distribution, StandInArchive], tmp_path: Path
) -> None:
    distribution, archive = debian
    run(["dpkg-deb", "--build", str(_empty_package(tmp_path / "hello")), str(tmp_path)]).require()
    (file,) = tmp_path.glob("*.deb")
    root = tmp_path / "root"

    bootstrap(
        distribution,
        Settings(mirror_debian=archive.uri),
        root,
        ignore_progress,
        packages=["libvpx7"],
        options=[*install_options(file), "--mode=chrootless"],
        variant="custom",
    )

    argv = ["dpkg-query", f"--admindir={root}/var/lib/dpkg", "-W", "-f", "${Package}\n"]
    assert run(argv).require().text.split() == ["hello", "libvpx7"]
    assert not (root / tmp_path.relative_to("/")).exists()


def _empty_package(tree: Path) -> Path:
    fields = "Package: hello\nVersion: 1\nArchitecture: all\nDescription: empty\n"
    (tree / "DEBIAN").mkdir(parents=True)
    (tree / "DEBIAN/control").write_text(f"{fields}Maintainer: Nobody <nobody@example.org>\n")
    return tree


def test_ubuntu_gets_gnome_web_without_any_firefox(tmp_path: Path) -> None:
    reports: list[str] = []
    settings = Settings(mirror_debian=NOWHERE)

    browser = prepare_browser(
        DISTRIBUTIONS["ubuntu-24.04"],
        settings,
        tmp_path,
        lambda _phase, _fraction=None, line="": reports.append(line),
    )

    assert (browser.name, browser.packages) == (GNOME_WEB, ("epiphany-browser",))
    assert "does not answer" in browser.reason
    assert any(line.startswith("WARNING") for line in reports)


@pytest.mark.slow
def test_debian_gets_its_own_firefox(tmp_path: Path) -> None:
    browser = prepare_browser(DISTRIBUTIONS["debian-12"], Settings(), tmp_path, ignore_progress)
    assert (browser.name, browser.packages) == (FIREFOX, ("firefox-esr",))
