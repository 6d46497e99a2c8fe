"""Supported distributions, their archives, and the choice of one."""

from __future__ import annotations

import threading
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, ValidationError

from foundation.errors import ImageBuildError, UnknownNameError
from foundation.files import write_atomic
from images.host import read_archives, read_default_archive

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foundation.settings import Settings
    from images.host import Archive

DEADLINE_S = 3.0
_CHOICE = "distribution.json"


@dataclass(frozen=True, slots=True)
class Distribution:
    """One release of one vendor.

    Attributes:
        name: name such as ``ubuntu-24.04``; the variant of images built from it.
        vendor: ``debian`` or ``ubuntu``.
        version: as in os-release.
        suite: code name of the release.
        components: components of the archive.
        security_path: path of the security archive on the main archive's host; None if the security
            suite is in the main archive.
        keyring: file of the archive keys on a host of the same vendor.
        key_package: package that contains the keys.
        key_fingerprints: fingerprints of the keys that may sign the archive. Source: the vendor's
            documents.
        kernel: package of a kernel with a graphics driver for virtual machines (cloud kernels lack
            one).
        registry_image: name of its minimal image in a container registry.
    """

    name: str
    vendor: str
    version: str
    suite: str
    components: tuple[str, ...]
    security_path: str | None
    keyring: str
    key_package: str
    key_fingerprints: tuple[str, ...]
    kernel: str
    registry_image: str


_UBUNTU_KEYS = (
    "790BC7277767219C42C86F933B4FE6ACC0B21F32",  # Ubuntu Archive Automatic Signing Key (2012)
    "843938DF228D22F7B3742BC0D94AA3F0EFE21092",  # Ubuntu CD Image Automatic Signing Key (2012)
    "F6ECB3762474EDA9D21B7022871920D1991BC93C",  # Ubuntu Archive Automatic Signing Key (2018)
)
_DEBIAN_KEYS = (
    "1F89983E0081FDE018F3CC9673A4F27B8DD47936",  # Debian 11: archive
    "AC530D520F2F3269F5E98313A48449044AAD5C5D",  # security archive
    "A4285295FC7B1A81600062A9605C66F00D6C9793",  # stable release
    "B8B80B5B623EAB6AD8775C45B7C5D7D6350947F8",  # Debian 12: archive
    "05AB90340C0C5E797F44A8C8254CF3B5AEC0A8F0",  # security archive
    "4D64FEC119C2029067D6E791F8D2585B8783D481",  # stable release
    "04B54C3CDCA79751B16BC6B5225629DF75B188BD",  # Debian 13: archive
    "5E04A1E3223A19A20706E20F9904613D4CCE68C6",  # security archive
    "41587F7DB8C774BCCF131416762F67A0B2C39DE4",  # stable release
)


def _ubuntu(version: str, suite: str) -> Distribution:
    return Distribution(
        name=f"ubuntu-{version}",
        vendor="ubuntu",
        version=version,
        suite=suite,
        components=("main", "universe"),
        security_path=None,
        keyring="/usr/share/keyrings/ubuntu-archive-keyring.gpg",
        key_package="ubuntu-keyring",
        key_fingerprints=_UBUNTU_KEYS,
        kernel="linux-image-generic",
        registry_image=f"ubuntu:{version}",
    )


_DEBIAN_12 = Distribution(
    name="debian-12",
    vendor="debian",
    version="12",
    suite="bookworm",
    components=("main",),
    security_path="debian-security",
    keyring="/usr/share/keyrings/debian-archive-keyring.gpg",
    key_package="debian-archive-keyring",
    key_fingerprints=_DEBIAN_KEYS,
    kernel="linux-image-amd64",
    registry_image="debian:12-slim",
)
DISTRIBUTIONS = {
    entry.name: entry
    for entry in (_DEBIAN_12, _ubuntu("22.04", "jammy"), _ubuntu("24.04", "noble"))
}
PREFERRED_UBUNTU = "ubuntu-22.04"
FALLBACK = "debian-12"
BASE = _DEBIAN_12
"""Distribution of docker images on every host: users get the QEMU and libvirt that were tested."""


def get_distribution(name: str) -> Distribution:
    """Return a distribution of the table.

    Raises:
        UnknownNameError: it is not in the table.
    """
    if name not in DISTRIBUTIONS:
        raise UnknownNameError.of("distribution", name, ["auto", *DISTRIBUTIONS])
    return DISTRIBUTIONS[name]


def find_mirror(
    distribution: Distribution, settings: Settings, archives: Sequence[Archive] | None = None
) -> str | None:
    """Return the URL of a distribution's archive without a trailing slash, or None.

    Sources, in this order: ``MESOCOSM_MIRROR_<VENDOR>``; the host's own apt sources; the
    defaults of Debian's bootstrap tools.

    Args:
        distribution: distribution whose archive is wanted.
        settings: may name a mirror.
        archives: the host's archives, if already known.
    """
    configured = {"debian": settings.mirror_debian, "ubuntu": settings.mirror_ubuntu}
    if mirror := configured[distribution.vendor]:
        return mirror.rstrip("/")
    known = read_archives() if archives is None else archives
    for archive in known:
        if archive.suite == distribution.suite:
            return archive.uri
    for archive in known:
        if archive.origin.lower() == distribution.vendor and "security" not in archive.suite:
            return archive.uri
    return read_default_archive(distribution.vendor)


def source_lines(
    distribution: Distribution, settings: Settings, *, signed_by: str | None = None
) -> list[str]:
    """Return the lines of ``sources.list``: release, updates, security.

    Raises:
        ImageBuildError: no archive is known.
    """
    archives = read_archives()
    mirror = find_mirror(distribution, settings, archives)
    if mirror is None:
        raise ImageBuildError(
            f"The archive of {distribution.name} is not known on this host.",
            details="Neither apt's sources nor the bootstrap tools contain one.",
            resolution=f"Set MESOCOSM_MIRROR_{distribution.vendor.upper()} to its URL.",
        )
    security_suite = f"{distribution.suite}-security"
    security = next((archive.uri for archive in archives if archive.suite == security_suite), None)
    if security is None:
        path = distribution.security_path
        security = f"{mirror.rsplit('/', 1)[0]}/{path}" if path else mirror
    option = f"[signed-by={signed_by}] " if signed_by else ""
    rest = " ".join(distribution.components)
    return [
        f"deb {option}{mirror} {distribution.suite} {rest}",
        f"deb {option}{mirror} {distribution.suite}-updates {rest}",
        f"deb {option}{security} {security_suite} {rest}",
    ]


@dataclass(frozen=True, slots=True)
class Reachability:
    """Whether an archive answers.

    Attributes:
        ok: whether it answers.
        reason: evidence that it answers, or why it does not.
    """

    ok: bool
    reason: str


def fetch(url: str, *, timeout_s: float) -> Reachability:
    """Request the first bytes of a URL within a hard deadline that includes the name lookup."""
    result: list[Reachability] = []

    def ask() -> None:
        request = urllib.request.Request(url, headers={"Range": "bytes=0-63"})  # noqa: S310
        try:
            with urllib.request.urlopen(request, timeout=timeout_s) as reply:  # noqa: S310
                reply.read(64)
            result.append(Reachability(ok=True, reason=f"{url} answers"))
        except (OSError, ValueError) as exc:
            cause = exc.reason if isinstance(exc, urllib.error.URLError) else exc
            result.append(Reachability(ok=False, reason=f"{url}: {cause}"))

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(timeout_s)
    return (
        result[0]
        if result
        else Reachability(ok=False, reason=f"{url}: no answer in {timeout_s:g} s")
    )


def check_archive(
    distribution: Distribution, settings: Settings, *, timeout_s: float = DEADLINE_S
) -> Reachability:
    """Return whether a distribution's archive answers within the deadline."""
    mirror = find_mirror(distribution, settings)
    if mirror is None:
        return Reachability(ok=False, reason=f"the archive of {distribution.name} is not known")
    return fetch(f"{mirror}/dists/{distribution.suite}/InRelease", timeout_s=timeout_s)


class DistributionChoice(BaseModel):
    """The distribution of the desktop image, and why.

    Attributes:
        name: name of the distribution.
        reason: one sentence, recorded with results.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    reason: str


def choose_distribution(settings: Settings, *, ignore_previous: bool = False) -> DistributionChoice:
    """Choose the desktop's distribution: the configured one, else Ubuntu if reachable, else Debian.

    An automatic choice is stored in the images folder, so that an unstable network does not change
    the machine that results are measured on; so is the distribution that `mesocosm up` used.

    Args:
        settings: names a distribution, or ``auto``.
        ignore_previous: ignore an earlier automatic choice.

    Raises:
        UnknownNameError: the configured distribution is not in the table.
    """
    if settings.distribution != "auto":
        name = get_distribution(settings.distribution).name
        return DistributionChoice(name=name, reason="It was requested.")
    path = settings.images_dir / _CHOICE
    if path.is_file() and not ignore_previous:
        try:
            return DistributionChoice.model_validate_json(path.read_bytes())
        except ValidationError:
            pass
    reach = check_archive(DISTRIBUTIONS[PREFERRED_UBUNTU], settings)
    choice = (
        DistributionChoice(name=PREFERRED_UBUNTU, reason="Ubuntu's archive is reachable.")
        if reach.ok
        else DistributionChoice(
            name=FALLBACK, reason=f"Ubuntu's archive is not reachable ({reach.reason})."
        )
    )
    save_choice(settings, choice)
    return choice


def save_choice(settings: Settings, choice: DistributionChoice) -> None:
    """Store this distribution for later commands that do not name one."""
    write_atomic(settings.images_dir / _CHOICE, choice.model_dump_json())
