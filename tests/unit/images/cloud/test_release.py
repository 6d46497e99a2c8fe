"""A fake vendor's server of cloud images on loopback; gpgv is real."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from foundation.errors import ImageBuildError, ToolMissingError
from foundation.settings import Settings
from images.cloud import release
from images.cloud.release import check_signature, fetch_cloud_image, find_sum
from images.distribution import DISTRIBUTIONS
from images.log import ignore_progress
from tests.standins.archive import SigningKey, StandInArchive

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = "jammy-server-cloudimg-amd64.img"
IMAGE = b"QFI\xfb" + bytes(3_000_000)
SUMS = f"{'0' * 64} *other.img\n{hashlib.sha256(IMAGE).hexdigest()} *{NAME}\n".encode()


@pytest.fixture(scope="module")
def keys() -> Iterator[dict[str, SigningKey]]:
    with tempfile.TemporaryDirectory(prefix="keys-") as home:
        try:
            made = {name: SigningKey(Path(home) / name, name) for name in ("vendor", "other")}
        except ToolMissingError as exc:
            pytest.skip(exc.brief)
        yield made
        for key in made.values():
            key.close()


@pytest.fixture
def vendor(
    keys: dict[str, SigningKey], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[StandInArchive]:
    """The vendor's server with valid files, signed by the known key."""
    keyring = tmp_path / "vendor.gpg"
    keyring.write_bytes(keys["vendor"].public())
    monkeypatch.setattr(release, "KEYRING", str(keyring))
    known = (keys["vendor"].fingerprint,)
    monkeypatch.setattr(check_signature, "__defaults__", (known,))
    with StandInArchive(tmp_path / "server", keys["vendor"]) as server:
        current = server.folder / "jammy/current"
        current.mkdir(parents=True)
        (current / NAME).write_bytes(IMAGE)
        (current / "SHA256SUMS").write_bytes(SUMS)
        (current / "SHA256SUMS.gpg").write_bytes(sign(keys["vendor"], SUMS))
        yield server


def sign(key: SigningKey, data: bytes) -> bytes:
    return key.gpg("--detach-sign", "--armor", stdin=data)


def fetch(vendor: StandInArchive, folder: Path) -> Path:
    settings = Settings(mirror_cloud=f"{vendor.uri}/")
    work = folder / "work"
    work.mkdir(exist_ok=True)
    return fetch_cloud_image(DISTRIBUTIONS["ubuntu-22.04"], settings, work, ignore_progress)


@pytest.mark.slow
def test_image_signed_by_its_vendor_is_accepted(vendor: StandInArchive, tmp_path: Path) -> None:
    assert fetch(vendor, tmp_path).read_bytes() == IMAGE
    assert [path.name for path in (tmp_path / "work").iterdir()] == [NAME]


@pytest.mark.slow
def test_altered_image_is_rejected_and_removed(vendor: StandInArchive, tmp_path: Path) -> None:
    (vendor.folder / "jammy/current" / NAME).write_bytes(IMAGE[:-1] + b"x")
    with pytest.raises(ImageBuildError, match="does not match the checksum that its vendor signed"):
        fetch(vendor, tmp_path)
    assert not list((tmp_path / "work").iterdir())


@pytest.mark.slow
def test_altered_checksums_are_rejected_before_the_image_is_fetched(
    vendor: StandInArchive, tmp_path: Path
) -> None:
    altered = SUMS.replace(b"0" * 64, b"1" * 64)
    (vendor.folder / "jammy/current/SHA256SUMS").write_bytes(altered)
    (vendor.folder / "jammy/current" / NAME).unlink()
    with pytest.raises(ImageBuildError, match="not signed by the vendor") as caught:
        fetch(vendor, tmp_path)
    assert "BAD signature" in caught.value.details


@pytest.mark.slow
def test_signature_by_somebody_else_is_rejected(
    vendor: StandInArchive, keys: dict[str, SigningKey], tmp_path: Path
) -> None:
    signature = sign(keys["other"], SUMS)
    (vendor.folder / "jammy/current/SHA256SUMS.gpg").write_bytes(signature)
    with pytest.raises(ImageBuildError, match="not signed by the vendor"):
        fetch(vendor, tmp_path)


def test_valid_signature_by_a_foreign_key_is_rejected(
    keys: dict[str, SigningKey], tmp_path: Path
) -> None:
    keyring = tmp_path / "both.gpg"
    keyring.write_bytes(keys["vendor"].public() + keys["other"].public())
    signature = sign(keys["other"], SUMS)
    known = (keys["vendor"].fingerprint,)
    with pytest.raises(ImageBuildError, match="not signed by the vendor"):
        check_signature(SUMS, signature, keyring, tmp_path, known)
    check_signature(SUMS, sign(keys["vendor"], SUMS), keyring, tmp_path, known)


@pytest.mark.slow
def test_missing_signature_is_rejected(vendor: StandInArchive, tmp_path: Path) -> None:
    (vendor.folder / "jammy/current/SHA256SUMS.gpg").write_bytes(b"")
    with pytest.raises(ImageBuildError, match="not signed by the vendor"):
        fetch(vendor, tmp_path)


@pytest.mark.slow
def test_unreachable_or_unknown_server_is_reported(vendor: StandInArchive, tmp_path: Path) -> None:
    (vendor.folder / "jammy/current/SHA256SUMS").unlink()
    with pytest.raises(ImageBuildError, match="could not be fetched"):
        fetch(vendor, tmp_path)
    with pytest.raises(ImageBuildError, match="MESOCOSM_MIRROR_CLOUD"):
        fetch_cloud_image(DISTRIBUTIONS["ubuntu-22.04"], Settings(), tmp_path, ignore_progress)


def test_list_without_the_image_is_rejected() -> None:
    assert find_sum(SUMS.decode(), "other.img") == "0" * 64
    with pytest.raises(ImageBuildError, match="do not list noble"):
        find_sum(SUMS.decode(), "noble.img")


def test_image_of_another_name_is_not_mistaken_for_it() -> None:
    with pytest.raises(ImageBuildError, match="do not list"):
        find_sum(f"{'0' * 64} *otherXimg\n", "other.img")
