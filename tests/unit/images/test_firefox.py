"""Fake archives of Ubuntu and Mozilla on loopback; apt and mmdebstrap are real."""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from foundation.errors import ImageBuildError, ToolMissingError
from foundation.process import run
from foundation.settings import Settings
from images import distribution as distribution_module
from images.bootstrap import bootstrap
from images.distribution import DISTRIBUTIONS
from images.firefox import find_mozilla_archive, prepare_firefox
from images.host import Archive
from tests.standins.archive import SigningKey, StandInArchive

if TYPE_CHECKING:
    from collections.abc import Iterator

    from images.distribution import Distribution
    from images.firefox import FirefoxSource

STUB, REAL = "1:1snap1-0ubuntu5", "146.0~build1"


class Reports:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def __call__(self, phase: str, fraction: float | None = None, line: str = "") -> None:
        self.lines.append(line)


@pytest.fixture(scope="module")
def keys() -> Iterator[dict[str, SigningKey]]:
    """Fake keys of Ubuntu, Mozilla and a third party."""
    with tempfile.TemporaryDirectory(prefix="keys-") as home:
        try:
            made = {name: SigningKey(Path(home) / name, name) for name in ("ubuntu", "mozilla")}
        except ToolMissingError as exc:
            pytest.skip(exc.brief)
        yield made
        for key in made.values():
            key.close()


@pytest.fixture(scope="module")
def ubuntu(
    keys: dict[str, SigningKey], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Distribution, StandInArchive]]:
    folder = tmp_path_factory.mktemp("ubuntu")
    keyring = folder / "ubuntu.gpg"
    keyring.write_bytes(keys["ubuntu"].public())
    with StandInArchive(folder / "archive", keys["ubuntu"]) as archive:
        archive.publish("jammy", ("firefox", STUB), ("hello", "1.0"), origin="Ubuntu")
        archive.publish("jammy-updates", origin="Ubuntu")
        archive.publish("jammy-security", origin="Ubuntu")
        jammy = dataclasses.replace(
            DISTRIBUTIONS["ubuntu-22.04"], components=("main",), keyring=str(keyring)
        )
        yield jammy, archive


@pytest.fixture(scope="module")
def mozilla(
    keys: dict[str, SigningKey], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[StandInArchive]:
    folder = tmp_path_factory.mktemp("mozilla") / "archive"
    with StandInArchive(folder, keys["mozilla"]) as archive:
        key = keys["mozilla"].public(armoured=True)
        (folder / "repo-signing-key.gpg").write_bytes(key)
        archive.publish("mozilla", ("firefox", REAL), origin="namespaces/x/repositories/mozilla")
        yield archive


@pytest.fixture(autouse=True)
def _no_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host without known archives."""
    monkeypatch.setattr(distribution_module, "read_archives", list)


def install(
    ubuntu: tuple[Distribution, StandInArchive], firefox: FirefoxSource, folder: Path, *more: str
) -> dict[str, str]:
    """Install the packages with mmdebstrap and return versions by package."""
    distribution, archive = ubuntu
    root = folder / "root"
    bootstrap(
        distribution,
        Settings(mirror_ubuntu=archive.uri),
        root,
        Reports(),
        packages=["hello", *firefox.packages, *more],
        # Only the named packages, unpacked from outside because the root has no system.
        options=[*firefox.options, "--mode=chrootless"],
        sources=firefox.sources,
        variant="custom",
    )
    argv = ["dpkg-query", f"--admindir={root}/var/lib/dpkg", "-W", "-f", "${Package} ${Version}\n"]
    rows = run(argv).require().text.splitlines()
    return dict(row.split() for row in rows)


@pytest.mark.slow
def test_firefox_is_mozillas_although_the_stub_has_a_higher_version(
    ubuntu: tuple[Distribution, StandInArchive],
    mozilla: StandInArchive,
    keys: dict[str, SigningKey],
    tmp_path: Path,
) -> None:
    settings = Settings(mirror_mozilla=f"{mozilla.uri}/")
    reports = Reports()
    firefox = prepare_firefox(settings, tmp_path, reports, fingerprint=keys["mozilla"].fingerprint)
    assert firefox.note == f"Firefox, Mozilla's, from {mozilla.uri}"
    assert reports.lines == []

    installed = install(ubuntu, firefox, tmp_path)

    assert installed == {"hello": "1.0", "firefox": REAL}


@pytest.mark.slow
def test_firefox_is_absent_with_a_reason_without_the_mozilla_archive(
    ubuntu: tuple[Distribution, StandInArchive], tmp_path: Path
) -> None:
    reports = Reports()
    firefox = prepare_firefox(
        Settings(mirror_mozilla="http://127.0.0.1:9/apt"), tmp_path, reports, archives=[]
    )
    assert "does not answer" in firefox.note
    assert reports.lines == [firefox.note]

    assert install(ubuntu, firefox, tmp_path) == {"hello": "1.0"}


@pytest.mark.slow
def test_stub_is_never_installed_even_on_request(
    ubuntu: tuple[Distribution, StandInArchive], tmp_path: Path
) -> None:
    firefox = prepare_firefox(Settings(), tmp_path, Reports(), archives=[])
    assert "MESOCOSM_MIRROR_MOZILLA" in firefox.note
    with pytest.raises(Exception, match="mmdebstrap ended") as caught:
        install(ubuntu, firefox, tmp_path, "firefox")
    assert "firefox" in str(caught.value)


def test_archive_signed_by_somebody_else_is_rejected(
    mozilla: StandInArchive, tmp_path: Path
) -> None:
    with pytest.raises(ImageBuildError, match="Mozilla cannot be trusted"):
        prepare_firefox(Settings(mirror_mozilla=mozilla.uri), tmp_path, Reports())


def test_archive_without_its_key_provides_no_firefox(
    mozilla: StandInArchive, tmp_path: Path
) -> None:
    key = mozilla.folder / "repo-signing-key.gpg"
    kept = key.rename(tmp_path / "kept")
    try:
        firefox = prepare_firefox(Settings(mirror_mozilla=mozilla.uri), tmp_path, Reports())
    finally:
        kept.rename(key)
    assert firefox.packages == ()
    assert "could not be fetched" in firefox.note


@pytest.mark.slow
def test_archive_comes_from_settings_then_the_host_sources() -> None:
    archives = [
        Archive("http://one.test/ubuntu", "jammy", "Ubuntu"),
        Archive("http://two.test/apt", "mozilla", ""),
    ]
    chosen = Settings(mirror_mozilla="http://mine.test/apt/")
    assert find_mozilla_archive(chosen, archives) == "http://mine.test/apt"
    assert find_mozilla_archive(Settings(), archives) == "http://two.test/apt"
    assert find_mozilla_archive(Settings(), archives[:1]) is None
