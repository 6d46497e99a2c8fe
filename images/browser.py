"""Select the browser of a desktop; every desktop has one.

Debian has a Firefox package. Ubuntu's own is a stub that installs a snap, so an Ubuntu desktop gets
Mozilla's package. If Mozilla's archive does not answer, it gets Debian's, with the libraries that
only Debian has kept separate; if Debian's does not answer either, GNOME Web from Ubuntu's own
archive.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.files import digest_file
from images.debian_firefox import make_debian_firefox
from images.distribution import DISTRIBUTIONS, FALLBACK, check_archive
from images.firefox import find_mozilla_archive, prepare_firefox

if TYPE_CHECKING:
    from foundation.settings import Settings
    from images.distribution import Distribution
    from images.recipe import Report

FIREFOX = "Firefox"
GNOME_WEB = "GNOME Web"
SCRATCH = ("firefox.pref", "mozilla.asc", "firefox-esr.deb")
"""What `prepare_browser` leaves in its folder for the duration of the build."""

GNOME_WEB_PACKAGE = "epiphany-browser"
_MODULES = ("browser.py", "debian_firefox.py", "debian_packages.py", "firefox.py")
_OLD_C_LIBRARY = frozenset({"ubuntu-22.04"})


@dataclass(frozen=True, slots=True)
class Browser:
    """The origin of a desktop's browser.

    Attributes:
        name: `FIREFOX` or `GNOME_WEB`.
        packages: packages to install from archives.
        package_file: file of an additional package to install, or None.
        sources: lines of ``sources.list``.
        options: options of mmdebstrap, including those for `package_file`.
        note: name, version and origin, for the manifest and for results.
        reason: why it is not Mozilla's Firefox, for the manifest; empty if it is, or on Debian.
    """

    name: str
    packages: tuple[str, ...] = ()
    package_file: Path | None = None
    sources: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    note: str = ""
    reason: str = ""

    def notes(self) -> dict[str, str]:
        """Return the notes for the manifest."""
        reason = {"browser_reason": self.reason} if self.reason else {}
        return {"browser": self.note} | reason


def browser_inputs(distribution: Distribution, settings: Settings) -> dict[str, object]:
    """Return JSON data that determines a desktop's browser, as far as known before the build."""
    if distribution.vendor == "debian":
        return {}
    here = Path(__file__).parent
    return {
        "mozilla": find_mozilla_archive(settings) is not None,
        "browser": {name: digest_file(here / name) for name in _MODULES},
    }


def prepare_browser(
    distribution: Distribution, settings: Settings, workdir: Path, report: Report
) -> Browser:
    """Select a desktop's browser, after querying its archive and checking its keys.

    Args:
        distribution: distribution of the desktop.
        settings: may name mirrors.
        workdir: folder for `SCRATCH`.
        report: receives progress, and a warning if the desktop will have no Firefox.

    Raises:
        ImageBuildError: an archive's keys are not its owner's.
        ToolError: apt or dpkg-deb failed.
    """
    if distribution.vendor == "debian":
        return Browser(FIREFOX, ("firefox-esr",), note="Firefox ESR, Debian's own")
    mozilla = prepare_firefox(settings, workdir, report)
    if mozilla.packages:
        return Browser(
            FIREFOX, mozilla.packages, None, mozilla.sources, mozilla.options, mozilla.note
        )
    debian = DISTRIBUTIONS[FALLBACK]
    reach = check_archive(debian, settings)
    if reach.ok:
        file, version = make_debian_firefox(
            settings,
            workdir,
            report,
            distribution=debian,
            with_c_library=distribution.name in _OLD_C_LIBRARY,
        )
        note = f"Firefox ESR {version}, Debian's with its newer libraries kept separate"
        options = (*mozilla.options, *install_options(file))
        return Browser(FIREFOX, (), file, (), options, note, mozilla.note)
    reason = f"{mozilla.note} Debian's archive does not answer ({reach.reason})."
    report("browser", None, f"WARNING: this desktop will have no Firefox. {reason}")
    note = f"{GNOME_WEB}, Ubuntu's"
    return Browser(GNOME_WEB, (GNOME_WEB_PACKAGE,), None, (), mozilla.options, note, reason)


def install_options(file: Path) -> tuple[str, ...]:
    """Return the options of mmdebstrap that install a package file and its dependencies.

    The dpkg in the new system gets the same path as the apt outside, so the file is copied there
    temporarily.
    Source: mmdebstrap(1), ``--include``.
    """
    inside = str(file).lstrip("/")
    folder = str(file.parent).lstrip("/")
    return (
        f"--include={file}",
        f'--setup-hook=mkdir -p "$1"/{folder} && cp \'{file}\' "$1"/{inside}',
        f'--customize-hook=cd "$1" && rm {inside} && rmdir -p --ignore-fail-on-non-empty {folder}',
    )
