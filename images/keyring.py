"""Find the keys that sign a distribution's archive, even on a host of another vendor."""

from __future__ import annotations

import gzip
import re
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.errors import ImageBuildError
from foundation.process import run
from images.distribution import find_mirror

if TYPE_CHECKING:
    from collections.abc import Collection

    from foundation.settings import Settings
    from images.distribution import Distribution
    from images.recipe import Report

_TIMEOUT_S = 60.0


def find_keyring(
    distribution: Distribution, settings: Settings, workdir: Path, report: Report
) -> Path:
    """Return a file of archive keys for mmdebstrap.

    This is the host's own file if its package is installed. Otherwise the archive's key package is
    fetched, and used only if **every** key in it has one of the fingerprints in the table.

    Args:
        distribution: distribution whose keys are wanted.
        settings: may name a mirror.
        workdir: folder for a fetched file; remove it after use.
        report: receives progress.

    Raises:
        ImageBuildError: the file cannot be fetched or contains an unknown key.
    """
    installed = Path(distribution.keyring)
    if installed.is_file():
        return installed
    report("keys", None, f"fetching {distribution.key_package}")
    mirror = find_mirror(distribution, settings)
    try:
        package = _fetch_package(f"{mirror}", distribution)
    except (OSError, ValueError) as exc:
        raise ImageBuildError(
            f"The archive keys of {distribution.name} could not be fetched.",
            details=str(exc),
            resolution=f"Install the package {distribution.key_package}, or choose another "
            "distribution.",
        ) from exc
    deb, tree = workdir / "keys.deb", workdir / "keys"
    deb.write_bytes(package)
    run(["dpkg-deb", "--extract", str(deb), str(tree)]).require()
    keyring = tree / distribution.keyring.lstrip("/")
    check_fingerprints(keyring, distribution)
    return keyring


def check_fingerprints(keyring: Path, distribution: Distribution) -> None:
    """Check that a key file contains only known keys of a distribution's archive.

    Raises:
        ImageBuildError: it contains no key, or an unknown one.
    """
    require_keys(
        keyring,
        distribution.key_fingerprints,
        owner=distribution.name,
        resolution=f"Install the package {distribution.key_package} from a source you trust.",
    )


def require_keys(keyring: Path, known: Collection[str], *, owner: str, resolution: str) -> None:
    """Check that a key file contains keys, and only known ones.

    Args:
        keyring: OpenPGP keys, ASCII-armoured or binary.
        known: fingerprints, 40 uppercase hex digits.
        owner: claimed owner of the keys.
        resolution: the error's resolution.

    Raises:
        ImageBuildError: it contains no key, or an unknown one.
    """
    shown = run(["gpg", "--batch", "--show-keys", "--with-colons", str(keyring)])
    primary = re.findall(
        r"^pub:.*\n(?:(?!fpr).*\n)*fpr:+([0-9A-F]{40}):", shown.text, flags=re.MULTILINE
    )
    unknown = set(primary) - set(known)
    if shown.exit_code or unknown or not primary:
        raise ImageBuildError(
            f"The key file fetched for {owner} cannot be trusted.",
            details=f"It contains unknown keys: {', '.join(sorted(unknown)) or 'none'}.",
            resolution=resolution,
        )


def _fetch_package(mirror: str, distribution: Distribution) -> bytes:
    index = f"{mirror}/dists/{distribution.suite}/main/binary-amd64/Packages.gz"
    text = gzip.decompress(fetch_bytes(index)).decode()
    name = re.escape(distribution.key_package)
    match = re.search(rf"^Filename: (\S+/{name}_\S+\.deb)$", text, flags=re.MULTILINE)
    if not match:
        raise ValueError(f"{index} does not list {distribution.key_package}")
    return fetch_bytes(f"{mirror}/{match[1]}")


def fetch_bytes(url: str) -> bytes:
    """Fetch a small file.

    Raises:
        OSError: it cannot be fetched.
        ValueError: the URL is invalid.
    """
    with urllib.request.urlopen(url, timeout=_TIMEOUT_S) as reply:  # noqa: S310
        data = reply.read()
    assert isinstance(data, bytes)  # noqa: S101
    return data
