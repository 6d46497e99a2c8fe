"""A distribution's archive, read by the host's apt with folders of its own.

::

    <images_dir>/packages/<distribution>/
        apt/         sources, keys, lists and downloaded packages; the host's own are not used
        tools/       the distribution's apt, which desktops lack, unpacked; only builds see it
        names.txt    names of all packages
"""

from __future__ import annotations

import re
import shutil
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from foundation.clock import SYSTEM_CLOCK
from foundation.errors import ImageBuildError, MesocosmError
from foundation.files import FileLock, write_atomic
from foundation.process import run, stream
from images.distribution import source_lines
from images.host import read_apt_options, read_authorities
from images.keyring import find_keyring
from images.log import ignore_progress

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from foundation.settings import Settings
    from images.distribution import Distribution
    from images.recipe import Report

_NAMES_FRESH_S = 24 * 3600.0
_LISTS_FRESH_S = 6 * 3600.0
_TIMEOUT_S = 600.0
_FOLDERS = (
    *("etc/apt/apt.conf.d", "etc/apt/preferences.d", "var/lib/apt/lists/partial"),
    *("var/cache/apt/archives/partial", "var/lib/dpkg", "var/log/apt"),
)
_LIBRARIES = ("usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu")
_INSTALLED = re.compile(r"^Inst (\S+) ", re.MULTILINE)


@dataclass(frozen=True)
class PackageArchive:
    """The archive of one distribution.

    Attributes:
        distribution: the distribution.
        settings: may name a mirror; location of the folders.
        report: receives progress.
    """

    distribution: Distribution
    settings: Settings
    report: Report = ignore_progress

    @property
    def folder(self) -> Path:
        """Return its folder."""
        return self.settings.images_dir / "packages" / self.distribution.name

    @property
    def apt(self) -> Path:
        """Return the folder of apt's files, which containers of builds mount at the same path."""
        return self.folder / "apt"

    @property
    def tools(self) -> Path:
        """Return the folder with the distribution's apt."""
        return self.folder / "tools"

    @property
    def is_fresh(self) -> bool:
        """Return whether the lists were read lately."""
        return _age_s(self.apt / "updated") < _LISTS_FRESH_S

    def names(self) -> frozenset[str]:
        """Return the names of all packages; read at most once a day.

        Raises:
            MesocosmError: the archive does not answer, and no names are known.
        """
        known = self.folder / "names.txt"
        if _age_s(known) >= _NAMES_FRESH_S:
            try:
                with self._locked():
                    self._update()
                    write_atomic(known, "\n".join(self._read_names()) + "\n")
            except MesocosmError:
                if not known.is_file():
                    raise
        return frozenset(known.read_text().split())

    def prepare(self, status: bytes) -> None:
        """Read the lists, and fetch the distribution's apt, unless both were done lately.

        Args:
            status: content of ``/var/lib/dpkg/status`` of a system that the tools shall run in.

        Raises:
            ToolError: apt failed.
            ImageBuildError: no archive or no keys.
        """
        with self._locked():
            self._update()
            if not (self.tools / "usr/bin/apt-get").is_file():
                self._fetch_tools(status)

    def container_environment(self) -> dict[str, str]:
        """Return the variables with which the distribution's apt runs in a container."""
        libraries = ":".join(str(self.tools / name) for name in _LIBRARIES)
        return {
            "APT_CONFIG": str(self.apt / "container.conf"),
            "MESOCOSM_APT": f"env LD_LIBRARY_PATH={libraries} {self.tools}/usr/bin/apt-get",
        }

    @contextmanager
    def _locked(self) -> Iterator[None]:
        lock = FileLock(self.folder / ".lock")
        lock.acquire()
        try:
            yield
        finally:
            lock.release()

    def _update(self) -> None:
        """Read the archive's lists, verified by its signature."""
        if self.is_fresh:
            return
        self.report("packages", None, f"reading the lists of {self.distribution.name}")
        for name in _FOLDERS:
            (self.apt / name).mkdir(parents=True, exist_ok=True)
        (self.apt / "var/lib/dpkg/status").touch()
        keys = find_keyring(self.distribution, self.settings, self._fresh_scratch(), self.report)
        keyring = self.apt / "etc/apt/keyring.gpg"
        shutil.copyfile(keys, keyring)
        lines = source_lines(self.distribution, self.settings, signed_by=str(keyring))
        write_atomic(self.apt / "etc/apt/sources.list", "\n".join(lines) + "\n")
        write_atomic(self.apt / "authorities.crt", read_authorities())
        self._write_options()
        self._run("update", "--error-on=any")
        write_atomic(self.apt / "updated", "")

    def _fresh_scratch(self) -> Path:
        scratch = self.folder / "scratch"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        return scratch

    def _write_options(self) -> None:
        status = self.apt / "var/lib/dpkg/status"
        common = [
            f'Dir "{self.apt}";',
            'APT::Sandbox::User "root";',
            'APT::Architecture "amd64";',
            'APT::Install-Recommends "false";',
            'Acquire::Languages "none";',
            f'Acquire::https::CAInfo "{self.apt}/authorities.crt";',
            *read_apt_options(),
        ]
        own = [f'Dir::State::status "{status}";']
        inside = [
            'Dir::State::status "/var/lib/dpkg/status";',
            'Dir::State::extended_states "/var/lib/apt/extended_states";',
            'Dir::Etc::preferencesparts "/etc/apt/preferences.d";',
            *(
                f'Dir::Bin::{name} "{self.tools}/usr/lib/apt/{name}";'
                for name in ("methods", "solvers", "planners")
            ),
            'Dpkg::Use-Pty "0";',
            'Dpkg::Options { "--force-confold"; "--force-unsafe-io"; };',
        ]
        write_atomic(self.apt / "host.conf", "\n".join(common + own) + "\n")
        write_atomic(self.apt / "container.conf", "\n".join(common + inside) + "\n")

    def _run(self, *arguments: str, cwd: Path | None = None) -> str:
        env = {"APT_CONFIG": str(self.apt / "host.conf"), "LC_ALL": "C.UTF-8"}
        done = run(["apt-get", "-q", *arguments], timeout_s=_TIMEOUT_S, env=env, cwd=cwd)
        vendor = self.distribution.vendor.upper()
        return done.require(
            f"Make sure that the archive of {self.distribution.name} is reachable, or set "
            f"MESOCOSM_MIRROR_{vendor} to another."
        ).text

    def _read_names(self) -> list[str]:
        names: set[str] = set()

        def take(line: str) -> None:
            if line.startswith("Package: "):
                names.add(line.removeprefix("Package: "))

        env = {"APT_CONFIG": str(self.apt / "host.conf")}
        stream(["apt-cache", "dumpavail"], on_line=take, timeout_s=_TIMEOUT_S, env=env).require()
        return sorted(names)

    def _fetch_tools(self, status: bytes) -> None:
        """Unpack apt and those of its dependencies that a system lacks."""
        self.report("packages", None, f"fetching apt of {self.distribution.name}")
        write_atomic(self.apt / "var/lib/dpkg/status", status)
        scratch = self._fresh_scratch()
        missing = _INSTALLED.findall(self._run("--simulate", "install", "apt"))
        if not missing:
            raise ImageBuildError(f"The archive of {self.distribution.name} has no apt.")
        self._run("download", *missing, cwd=scratch)
        unpacked = scratch / "tools"
        for package in sorted(scratch.glob("*.deb")):
            run(["dpkg-deb", "--extract", str(package), str(unpacked)], timeout_s=60).require()
        shutil.rmtree(self.tools, ignore_errors=True)
        unpacked.rename(self.tools)
        shutil.rmtree(scratch)


def _age_s(path: Path) -> float:
    """Return the seconds since a file was written; infinite if there is none."""
    return SYSTEM_CLOCK.now_s() - path.stat().st_mtime if path.is_file() else float("inf")
