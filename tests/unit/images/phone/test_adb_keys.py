from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa, utils

from images.phone.device.adb.keys import TOKEN_BYTES, is_signed, parse_key, parse_keys
from tests.standins.local_phone import make_key

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.adb


def sign(path: Path, token: bytes) -> bytes:
    key = serialization.load_pem_private_key(path.read_bytes(), None)
    assert isinstance(key, rsa.RSAPrivateKey)
    return key.sign(token, padding.PKCS1v15(), utils.Prehashed(hashes.SHA1()))  # noqa: S303


def test_signature_of_a_known_key_is_accepted(tmp_path: Path) -> None:
    make_key(tmp_path / "one")
    make_key(tmp_path / "two")
    token = secrets.token_bytes(TOKEN_BYTES)
    lines = [(tmp_path / f"{name}.pub").read_text() for name in ("one", "two")]
    signature = sign(tmp_path / "two", token)
    assert is_signed(token, signature, parse_keys(lines))
    assert not is_signed(token, signature, parse_keys(lines[:1]))
    assert not is_signed(secrets.token_bytes(TOKEN_BYTES), signature, parse_keys(lines))
    assert not is_signed(token, signature, ())
    for broken in (b"", signature[:-1], bytes(256), b"\xff" * 256, signature[::-1]):
        assert not is_signed(token, broken, parse_keys(lines))


@pytest.mark.parametrize("line", ["", "# none", "AAAA", "no base64 at all!", "QUJD user@host"])
def test_invalid_key_is_ignored(line: str) -> None:
    assert parse_key(line) is None
