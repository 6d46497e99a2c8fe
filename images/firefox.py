"""Firefox for desktops of Ubuntu, whose own package is a stub that installs a snap.

It is taken from Mozilla's archive, found in ``MESOCOSM_MIRROR_MOZILLA`` or the host's own apt
sources. Where that archive is not known or does not answer, `images.browser` takes another.
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

    from appliance.base.settings import Settings
    from images.host import Archive
    from images.recipe import Report

SUITE = "mozilla"
KEY_FILE = "repo-signing-key.gpg"
KEY_FINGERPRINT = "35BAA0B33E9EB396F59CA838C0BA5CE6DC6315A3"
# Ubuntu's stub has the higher version, so it must be ruled out, with Mozilla's archive or without.
_PREFERENCES = "Package: firefox*\nPin: release o=Ubuntu\nPin-Priority: -1\n"
_DEADLINE_S = 5.0


@dataclass(frozen=True, slots=True)
class FirefoxSource:
    """How a desktop gets Firefox.

    Attributes:
        packages: to install; none where there is no archive to take them from.
        sources: lines of ``sources.list``.
        options: of mmdebstrap.
        note: what was decided, or why it is not to be had, for the manifest.
    """

    packages: tuple[str, ...]
    sources: tuple[str, ...]
    options: tuple[str, ...]
    note: str


def find_mozilla_archive(
    settings: Settings, archives: Sequence[Archive] | None = None
) -> str | None:
    """Find the address of Mozilla's archive, no slash at its end, or None.

    Args:
        settings: may hold it.
        archives: of the host, when they are already known.
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
    """Decide where Firefox comes from, its archive asked and its key checked.

    Args:
        settings: may name the archive.
        workdir: where preferences and key are put; they may go once the system is made.
        report: told about it.
        archives: of the host, when they are already known.
        fingerprint: of the one key that may sign the archive.

    Raises:
        ImageBuildError: the archive answers with a key that is not Mozilla's.
    """
    preferences = workdir / "firefox.pref"
    preferences.write_text(_PREFERENCES)
    folder = '"$1"/etc/apt/preferences.d'
    hook = f"mkdir -p {folder} && cp '{preferences}' {folder}/firefox.pref"
    options = (f"--setup-hook={hook}",)
    uri = find_mozilla_archive(settings, archives)
    if uri is None:
        reason = "No archive of Mozilla is known: set MESOCOSM_MIRROR_MOZILLA to its address."
        return _without(reason, options, report)
    reach = fetch(f"{uri}/dists/{SUITE}/InRelease", timeout_s=_DEADLINE_S)
    if not reach.ok:
        return _without(f"Mozilla's archive does not answer ({reach.reason}).", options, report)
    try:
        armoured = fetch_bytes(f"{uri}/{KEY_FILE}")
    except OSError as exc:
        return _without(f"The key of Mozilla's archive cannot be had ({exc}).", options, report)
    key = workdir / "mozilla.asc"
    key.write_bytes(armoured)
    require_keys(
        key,
        {fingerprint},
        owner="Mozilla",
        resolution="Check MESOCOSM_MIRROR_MOZILLA: somebody else may have signed this archive.",
    )
    line = f"deb [signed-by={key}] {uri} {SUITE} main"
    return FirefoxSource(("firefox",), (line,), options, f"Firefox, Mozilla's, from {uri}")


def _without(reason: str, options: tuple[str, ...], report: Report) -> FirefoxSource:
    report("browser", None, reason)
    return FirefoxSource((), (), options, reason)
