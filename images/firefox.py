"""Firefox for Ubuntu desktops, because Ubuntu's own package is a stub that installs a snap.

It is installed from Mozilla's archive, which is found in ``MESOCOSM_MIRROR_MOZILLA`` or the host's
own apt sources. If that archive is not known or does not answer, `images.browser` selects another.
Source: Mozilla, *Install Firefox on Linux*.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from images.distribution import fetch
from images.host import read_archives
from images.keyring import fetch_bytes, require_keys

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from foundation.settings import Settings
    from images.host import Archive
    from images.recipe import Report

SUITE = "mozilla"
KEY_FILE = "repo-signing-key.gpg"
KEY_FINGERPRINT = "35BAA0B33E9EB396F59CA838C0BA5CE6DC6315A3"
# Ubuntu's stub has the higher version, so it must be excluded, with or without Mozilla's archive.
_PREFERENCES = "Package: firefox*\nPin: release o=Ubuntu\nPin-Priority: -1\n"
_DEADLINE_S = 5.0


@dataclass(frozen=True, slots=True)
class FirefoxSource:
    """The origin of a desktop's Firefox.

    Attributes:
        packages: packages to install; empty if there is no archive.
        sources: lines of ``sources.list``.
        options: options of mmdebstrap.
        note: the origin, or why Firefox is unavailable, for the manifest.
    """

    packages: tuple[str, ...]
    sources: tuple[str, ...]
    options: tuple[str, ...]
    note: str


def find_mozilla_archive(
    settings: Settings, archives: Sequence[Archive] | None = None
) -> str | None:
    """Return the URL of Mozilla's archive without a trailing slash, or None.

    Args:
        settings: may name the archive.
        archives: the host's archives, if already known.
    """
    if settings.mirror_mozilla:
        return settings.mirror_mozilla.rstrip("/")
    known = read_archives() if archives is None else archives
    return next((archive.uri for archive in known if archive.suite == SUITE), None)


def prepare_firefox(
    settings: Settings,
    workdir: Path,
    report: Report,
    *,
    archives: Sequence[Archive] | None = None,
    fingerprint: str = KEY_FINGERPRINT,
) -> FirefoxSource:
    """Select the origin of Firefox, after querying its archive and checking its key.

    Args:
        settings: may name the archive.
        workdir: folder for preferences and key; they may be deleted once the system is built.
        report: receives the decision.
        archives: the host's archives, if already known.
        fingerprint: fingerprint of the only key that may sign the archive.

    Raises:
        ImageBuildError: the archive's key is not Mozilla's.
    """
    preferences = workdir / "firefox.pref"
    preferences.write_text(_PREFERENCES)
    folder = '"$1"/etc/apt/preferences.d'
    hook = f"mkdir -p {folder} && cp '{preferences}' {folder}/firefox.pref"
    options = (f"--setup-hook={hook}",)
    uri = find_mozilla_archive(settings, archives)
    if uri is None:
        reason = "Mozilla's archive is not known: set MESOCOSM_MIRROR_MOZILLA to its URL."
        return _without(reason, options, report)
    reach = fetch(f"{uri}/dists/{SUITE}/InRelease", timeout_s=_DEADLINE_S)
    if not reach.ok:
        return _without(f"Mozilla's archive does not answer ({reach.reason}).", options, report)
    try:
        armoured = fetch_bytes(f"{uri}/{KEY_FILE}")
    except OSError as exc:
        return _without(
            f"The key of Mozilla's archive could not be fetched ({exc}).", options, report
        )
    key = workdir / "mozilla.asc"
    key.write_bytes(armoured)
    require_keys(
        key,
        {fingerprint},
        owner="Mozilla",
        resolution="Check MESOCOSM_MIRROR_MOZILLA: this archive may be signed by somebody else.",
    )
    line = f"deb [signed-by={key}] {uri} {SUITE} main"
    return FirefoxSource(("firefox",), (line,), options, f"Firefox, Mozilla's, from {uri}")


def _without(reason: str, options: tuple[str, ...], report: Report) -> FirefoxSource:
    report("browser", None, reason)
    return FirefoxSource((), (), options, reason)
