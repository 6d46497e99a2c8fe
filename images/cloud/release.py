"""Fetch a vendor's cloud image, and verify its signature and checksum before use."""

from __future__ import annotations

import dataclasses
import hashlib
import re
import urllib.request
from typing import TYPE_CHECKING

from foundation.errors import ImageBuildError
from foundation.process import run
from images.keyring import fetch_bytes, find_keyring

if TYPE_CHECKING:
    from pathlib import Path

    from foundation.settings import Settings
    from images.distribution import Distribution
    from images.recipe import Report

KEYRING = "/usr/share/keyrings/ubuntu-cloudimage-keyring.gpg"
# Source: the package ubuntu-keyring.
KEYS = (
    "D2EB44626FDDC30B513D5BB71A5D6C4C7DB87C81",  # UEC Image Automatic Signing Key
    "4A3CE3CD565D7EB5C810E2B97FF3F408476CF100",  # Ubuntu Cloud Image Builder
)
_TIMEOUT_S = 60.0
_CHUNK_BYTES = 1 << 20
_RESOLUTION = "Try again. If the error persists, do not use this address (MESOCOSM_MIRROR_CLOUD)."


def fetch_cloud_image(
    distribution: Distribution, settings: Settings, workdir: Path, report: Report
) -> Path:
    """Fetch and verify the current cloud image of a release.

    Args:
        distribution: an Ubuntu release.
        settings: name the URL that contains ``<suite>/current/``.
        workdir: output folder for the image.
        report: receives progress.

    Returns:
        The path of the image, qcow2.

    Raises:
        ImageBuildError: the URL is missing or does not answer, or the image is not the one that the
            vendor signed.
    """
    if not settings.mirror_cloud:
        raise ImageBuildError(
            f"The URL of cloud images of {distribution.name} is not known.",
            resolution="Set MESOCOSM_MIRROR_CLOUD to the vendor's URL, or unset "
            "MESOCOSM_DESKTOP_SOURCE to build the desktop from the archive.",
        )
    base = f"{settings.mirror_cloud.rstrip('/')}/{distribution.suite}/current"
    name = f"{distribution.suite}-server-cloudimg-amd64.img"
    keyring = find_keyring(
        dataclasses.replace(distribution, keyring=KEYRING, key_fingerprints=KEYS),
        settings,
        workdir,
        report,
    )
    try:
        sums, signature = fetch_bytes(f"{base}/SHA256SUMS"), fetch_bytes(f"{base}/SHA256SUMS.gpg")
        check_signature(sums, signature, keyring, workdir)
        wanted = find_sum(sums.decode(errors="replace"), name)
        return _download(f"{base}/{name}", workdir / name, wanted, report)
    except OSError as exc:
        raise ImageBuildError(
            f"The cloud image of {distribution.name} could not be fetched.",
            details=f"{base}: {exc}",
            resolution="Check the network and MESOCOSM_MIRROR_CLOUD.",
        ) from exc


def check_signature(
    data: bytes, signature: bytes, keyring: Path, workdir: Path, keys: tuple[str, ...] = KEYS
) -> None:
    """Verify that one of the vendor's keys signed a file.

    Raises:
        ImageBuildError: no known key signed it.
        ToolMissingError: gpgv is not installed.
    """
    signed, detached = workdir / "signed", workdir / "signed.gpg"
    signed.write_bytes(data)
    detached.write_bytes(signature)
    argv = ["gpgv", "--status-fd", "1", "--keyring", str(keyring), str(detached), str(signed)]
    checked = run(argv)
    # The last field is the primary key; the first may be a subkey of it.
    signers = re.findall(r"^\[GNUPG:\] VALIDSIG .* ([0-9A-F]{40})$", checked.text, re.MULTILINE)
    signed.unlink()
    detached.unlink()
    if checked.exit_code != 0 or not set(signers) & set(keys):
        raise ImageBuildError(
            "The cloud image checksums are not signed by the vendor.",
            details=checked.stderr.decode(errors="replace").strip(),
            resolution=_RESOLUTION,
        )


def find_sum(sums: str, name: str) -> str:
    """Return the SHA-256 of a file from a list in the format of ``sha256sum``.

    Raises:
        ImageBuildError: the list does not contain the file.
    """
    match = re.search(rf"^([0-9a-f]{{64}}) [ *]{re.escape(name)}$", sums, flags=re.MULTILINE)
    if not match:
        raise ImageBuildError(f"The signed checksums do not list {name}.", resolution=_RESOLUTION)
    return match[1]


def _download(url: str, path: Path, wanted: str, report: Report) -> Path:
    digest = hashlib.sha256()
    with urllib.request.urlopen(url, timeout=_TIMEOUT_S) as reply, path.open("wb") as out:  # noqa: S310
        size = int(reply.headers.get("Content-Length") or 0)
        done = 0
        while chunk := reply.read(_CHUNK_BYTES):
            out.write(chunk)
            digest.update(chunk)
            done += len(chunk)
            report("download", done / size if size else None)
    if digest.hexdigest() != wanted:
        path.unlink()
        raise ImageBuildError(
            f"{path.name} does not match the checksum that its vendor signed.",
            details=f"Its SHA-256 is {digest.hexdigest()}, expected {wanted}.",
            resolution=_RESOLUTION,
        )
    return path
