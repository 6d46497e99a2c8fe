"""Packages of Debian's archive for other systems: fetched, verified, described, unpacked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from foundation.errors import ImageBuildError
from foundation.process import run
from images.distribution import source_lines
from images.host import read_apt_options
from images.keyring import find_keyring

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from foundation.settings import Settings
    from images.distribution import Distribution
    from images.recipe import Report

VERSION_SUFFIX = "+mesocosm1"
"""Mark of a package that was changed here."""

_RELATION = re.compile(r"\s*([a-z0-9][a-z0-9+.-]*)(?::\w+)?\s*(?:\(\s*([<>=]+)\s*([^)\s]+)\s*\))?")
_OPERATORS = {"<<": "lt", "<=": "le", "=": "eq", ">=": "ge", ">>": "gt"}
_DOWNLOAD_TIMEOUT_S = 600.0


@dataclass(frozen=True, slots=True)
class Relation:
    """One alternative of a dependency.

    Attributes:
        name: name of a package.
        operator: ``<<``, ``<=``, ``=``, ``>=``, ``>>``, or empty if any version does.
        version: version that `operator` compares with.
    """

    name: str
    operator: str = ""
    version: str = ""

    def is_met(self, versions: Mapping[str, str]) -> bool:
        """Return whether one of these versions, by package, meets it."""
        if self.name not in versions:
            return False
        if not self.operator:
            return True
        argv = [versions[self.name], _OPERATORS[self.operator], self.version]
        return run(["dpkg", "--compare-versions", *argv], timeout_s=20).exit_code == 0


class DebianPackages:
    """A Debian archive, verified by its signature.

    Args:
        distribution: Debian release.
        settings: may name a mirror.
        scratch: empty folder for keys, lists and packages.
        report: receives progress.

    Raises:
        ImageBuildError: the archive's keys are not its owner's.
        ToolError: the archive does not answer.
    """

    def __init__(
        self, distribution: Distribution, settings: Settings, scratch: Path, report: Report
    ) -> None:
        keyring = find_keyring(distribution, settings, scratch, report)
        apt = scratch / "apt"
        for name in (
            "etc/apt/apt.conf.d",
            "var/lib/apt/lists",
            "var/cache/apt/archives",
            "var/lib/dpkg",
        ):
            (apt / name).mkdir(parents=True)
        (apt / "var/lib/dpkg/status").touch()
        lines = source_lines(distribution, settings, signed_by=str(keyring))
        (apt / "etc/apt/sources.list").write_text("\n".join(lines) + "\n")
        options = [f'Dir "{apt}";', f'Dir::State::status "{apt}/var/lib/dpkg/status";']
        options += ['APT::Sandbox::User "root";', 'APT::Architecture "amd64";', *read_apt_options()]
        self._config = apt / "etc/apt/apt.conf"
        self._config.write_text("\n".join(options) + "\n")
        self._scratch = scratch
        self._run("apt-get", "-q", "update", "--error-on=any")

    def download(self, names: Sequence[str]) -> dict[str, Path]:
        """Fetch packages; return their files by name.

        Raises:
            ToolError: a package does not exist, or the archive does not answer.
        """
        self._run("apt-get", "-q", "download", *names)
        return {name: next(self._scratch.glob(f"{name}_*.deb")) for name in names}

    def describe(self, name: str) -> dict[str, str]:
        """Return the control fields of a package's newest version, each on one line.

        Raises:
            ToolError: it does not exist.
        """
        text = self._run("apt-cache", "--no-all-versions", "show", name)
        return next(read_paragraphs(text))

    def _run(self, *argv: str) -> str:
        result = run(
            list(argv),
            timeout_s=_DOWNLOAD_TIMEOUT_S,
            cwd=self._scratch,
            env={"APT_CONFIG": str(self._config)},
        )
        result.require(
            "Make sure that Debian's archive is reachable, or set MESOCOSM_MIRROR_DEBIAN to another."
        )
        return result.text


def unpack(package: Path, target: Path) -> Path:
    """Extract a package's files into a folder and return the folder."""
    run(["dpkg-deb", "--extract", str(package), str(target)], timeout_s=300).require()
    return target


def read_paragraphs(text: str) -> Iterator[dict[str, str]]:
    """Yield the fields of each paragraph of a control file; lines that continue a field are joined.

    Source: deb-control(5).
    """
    for paragraph in re.split(r"\n[ \t]*\n", text):
        fields = re.findall(r"^([A-Za-z0-9-]+):(.*(?:\n[ \t].*)*)", paragraph, flags=re.MULTILINE)
        if fields:
            yield {name: " ".join(value.split()) for name, value in fields}


def read_installed(status: str) -> dict[str, str]:
    """Return versions of installed packages and of what they provide.

    Args:
        status: content of ``/var/lib/dpkg/status``.

    Returns:
        Versions by name; what is provided without a version has version 0.
    """
    provided: dict[str, str] = {}
    versions: dict[str, str] = {}
    for fields in read_paragraphs(status):
        if fields.get("Status", "").endswith(" installed"):
            versions[fields["Package"]] = fields["Version"]
            for alternatives in read_relations(fields.get("Provides", "")):
                provided[alternatives[0].name] = alternatives[0].version or "0"
    return provided | versions


def read_relations(field: str) -> list[list[Relation]]:
    """Return the alternatives of each dependency in a field such as ``Depends``.

    Raises:
        ImageBuildError: an entry is not a dependency.
    """
    needs = []
    for need in filter(str.strip, field.split(",")):
        alternatives = []
        for text in need.split("|"):
            match = _RELATION.fullmatch(text.rstrip())
            if match is None:
                raise ImageBuildError(f"{text.strip()!r} is not a dependency.", details=field)
            alternatives.append(Relation(match[1], match[2] or "", match[3] or ""))
        needs.append(alternatives)
    return needs


def show_relations(needs: Sequence[Sequence[Relation]]) -> str:
    """Return a field that `read_relations` reads back."""
    return ", ".join(
        " | ".join(
            f"{one.name} ({one.operator} {one.version})" if one.operator else one.name
            for one in alternatives
        )
        for alternatives in needs
    )
