from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

from foundation.errors import ImageBuildError, UnknownNameError
from foundation.settings import Settings
from images import distribution as module
from images.distribution import (
    DISTRIBUTIONS,
    Reachability,
    check_archive,
    choose_distribution,
    fetch,
    find_mirror,
    get_distribution,
    save_choice,
    source_lines,
)
from images.host import Archive
from tests.standins.website import website

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DEBIAN = DISTRIBUTIONS["debian-12"]
JAMMY = DISTRIBUTIONS["ubuntu-22.04"]


@pytest.fixture
def server() -> Iterator[str]:
    """A real HTTP server that serves one archive's InRelease and refuses everything else."""
    with website(lambda path, _: "" if path.endswith("/dists/jammy/InRelease") else None) as port:
        yield f"http://127.0.0.1:{port}/ubuntu"


@pytest.fixture
def silent() -> Iterator[str]:
    """A server that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/ubuntu"


def test_responding_archive_is_reachable(server: str) -> None:
    settings = Settings(mirror_ubuntu=server)
    assert check_archive(JAMMY, settings).ok
    assert not check_archive(DISTRIBUTIONS["ubuntu-24.04"], settings).ok


def test_unresponsive_archive_times_out(silent: str) -> None:
    reach = check_archive(JAMMY, Settings(mirror_ubuntu=silent), timeout_s=0.3)
    assert not reach.ok
    assert "timed out" in reach.reason or "no answer" in reach.reason


def test_invalid_address_is_not_reachable() -> None:
    assert not fetch("http:///nothing", timeout_s=1).ok


@pytest.mark.usefixtures("_no_host")
def test_ubuntu_is_chosen_if_reachable_and_the_choice_is_kept(tmp_path: Path, server: str) -> None:
    first = choose_distribution(Settings(state_dir=tmp_path, mirror_ubuntu=server))
    assert first.name == "ubuntu-22.04"
    later = Settings(state_dir=tmp_path, mirror_ubuntu="http://127.0.0.1:9/ubuntu")
    assert choose_distribution(later) == first
    renewed = choose_distribution(later, ignore_previous=True)
    assert renewed.name == "debian-12"
    assert "not reachable" in renewed.reason


def test_requested_distribution_is_chosen_without_the_network(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path, distribution="ubuntu-24.04")
    assert choose_distribution(settings).name == "ubuntu-24.04"
    assert not list(tmp_path.iterdir())


def test_distribution_of_the_appliance_is_chosen_again(tmp_path: Path) -> None:
    asked = choose_distribution(Settings(state_dir=tmp_path, distribution="debian-12"))
    save_choice(Settings(state_dir=tmp_path), asked)
    assert choose_distribution(Settings(state_dir=tmp_path)) == asked


def test_broken_record_of_the_choice_is_replaced(tmp_path: Path, server: str) -> None:
    settings = Settings(state_dir=tmp_path, mirror_ubuntu=server)
    choose_distribution(settings)
    (tmp_path / "images" / "distribution.json").write_text("{")
    assert choose_distribution(settings).name == "ubuntu-22.04"


def test_unknown_distribution_is_rejected_with_nearest_match() -> None:
    with pytest.raises(UnknownNameError, match=r"Did you mean 'ubuntu-24\.04'"):
        get_distribution("ubuntu-24.4")


def test_mirror_comes_from_settings_then_sources_then_the_same_vendor() -> None:
    archives = [
        Archive("http://one.test/debian-security", "bookworm-security", "Debian"),
        Archive("http://one.test/debian", "bookworm", "Debian"),
        Archive("http://two.test/ubuntu", "noble", "Ubuntu"),
    ]
    chosen = Settings(mirror_debian="http://mine.test/debian/")
    assert find_mirror(DEBIAN, chosen, archives) == "http://mine.test/debian"
    assert find_mirror(DEBIAN, Settings(), archives) == "http://one.test/debian"
    assert find_mirror(JAMMY, Settings(), archives) == "http://two.test/ubuntu"


@pytest.fixture
def _no_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host without known archives."""
    monkeypatch.setattr(module, "read_archives", list)
    monkeypatch.setattr(module, "read_default_archive", dict[str, str]().get)


@pytest.mark.usefixtures("_no_host")
def test_sources_hold_release_updates_and_security() -> None:
    lines = source_lines(DEBIAN, Settings(mirror_debian="http://one.test/debian"))
    assert lines == [
        "deb http://one.test/debian bookworm main",
        "deb http://one.test/debian bookworm-updates main",
        "deb http://one.test/debian-security bookworm-security main",
    ]
    ubuntu = source_lines(JAMMY, Settings(mirror_ubuntu="http://two.test/ubuntu"), signed_by="/k")
    assert ubuntu[2] == "deb [signed-by=/k] http://two.test/ubuntu jammy-security main universe"


@pytest.mark.usefixtures("_no_host")
def test_host_without_archives_is_shown_the_setting() -> None:
    with pytest.raises(ImageBuildError, match="MESOCOSM_MIRROR_UBUNTU"):
        source_lines(JAMMY, Settings())
    assert check_archive(JAMMY, Settings()) == Reachability(
        ok=False, reason="the archive of ubuntu-22.04 is not known"
    )
