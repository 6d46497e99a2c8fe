"""The packages of a distribution's archive, by the host's apt."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.clock import SYSTEM_CLOCK
from foundation.errors import MesocosmError
from foundation.files import write_atomic
from foundation.process import run, stream
from images.distribution import source_lines
from images.host import read_apt_options
from images.keyring import find_keyring
from images.log import ignore_progress

if TYPE_CHECKING:
    from foundation.settings import Settings
    from images.distribution import Distribution
    from images.recipe import Report

_FRESH_S = 24 * 3600.0
_TIMEOUT_S = 300.0
_FOLDERS = ("etc/apt/apt.conf.d", "var/lib/apt/lists", "var/cache/apt/archives", "var/lib/dpkg")


def read_package_names(
    distribution: Distribution, settings: Settings, report: Report = ignore_progress
) -> frozenset[str]:
    """Return the names of all packages of a distribution; fetched at most once a day.

    Args:
        distribution: distribution of the desktop.
        settings: may name a mirror; location of the cached names.
        report: receives progress.

    Raises:
        MesocosmError: the archive does not answer, and no names are cached.
    """
    cached = settings.images_dir / "packages" / f"{distribution.name}.txt"
    if _is_fresh(cached):
        return frozenset(cached.read_text().split())
    try:
        names = _fetch_names(distribution, settings, report)
    except MesocosmError:
        if cached.is_file():
            return frozenset(cached.read_text().split())
        raise
    write_atomic(cached, "\n".join(sorted(names)) + "\n")
    return frozenset(names)


def _is_fresh(path: Path) -> bool:
    return path.is_file() and SYSTEM_CLOCK.now_s() - path.stat().st_mtime < _FRESH_S


def _fetch_names(distribution: Distribution, settings: Settings, report: Report) -> set[str]:
    """Ask the host's apt with sources and folders of its own; the host's are not changed."""
    report("packages", None, f"reading the lists of {distribution.name}")
    names: set[str] = set()

    def take(line: str) -> None:
        if line.startswith("Package: "):
            names.add(line.removeprefix("Package: "))

    with tempfile.TemporaryDirectory(prefix="mesocosm-apt-") as folder:
        apt = Path(folder)
        for name in _FOLDERS:
            (apt / name).mkdir(parents=True)
        (apt / "var/lib/dpkg/status").touch()
        keyring = find_keyring(distribution, settings, apt, report)
        lines = source_lines(distribution, settings, signed_by=str(keyring))
        (apt / "etc/apt/sources.list").write_text("\n".join(lines) + "\n")
        options = [f'Dir "{apt}";', f'Dir::State::status "{apt}/var/lib/dpkg/status";']
        options += ['APT::Sandbox::User "root";', 'APT::Architecture "amd64";']
        options += ['Acquire::Languages "none";', *read_apt_options()]
        config = apt / "etc/apt/apt.conf"
        config.write_text("\n".join(options) + "\n")
        env = {"APT_CONFIG": str(config)}
        run(["apt-get", "-q", "update", "--error-on=any"], timeout_s=_TIMEOUT_S, env=env).require(
            f"Make sure that the archive of {distribution.name} is reachable."
        )
        listing = stream(["apt-cache", "dumpavail"], on_line=take, timeout_s=_TIMEOUT_S, env=env)
        listing.require()
    return names
