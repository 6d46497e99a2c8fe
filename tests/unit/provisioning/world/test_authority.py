"""The certificates of worlds."""

from __future__ import annotations

import stat
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from cryptography import x509
from cryptography.x509.verification import PolicyBuilder, Store, VerificationError

from foundation.settings import Settings
from provisioning.world.authority import FOLDER, Authority, make_authority, open_authority

if TYPE_CHECKING:
    from pathlib import Path


def verify(authority: Authority, issued: str, name: str, year: int) -> None:
    trusted = x509.load_pem_x509_certificate(authority.certificate.encode())
    shown = x509.load_pem_x509_certificate(issued[issued.index("-----BEGIN CERT") :].encode())
    policy = PolicyBuilder().store(Store([trusted])).time(datetime(year, 6, 1, tzinfo=UTC))
    policy.build_server_verifier(x509.DNSName(name)).verify(shown, [])


@pytest.mark.parametrize("year", [2022, 2026, 2040])
def test_a_certificate_is_for_its_names_only(year: int) -> None:
    authority = make_authority()
    issued = authority.issue(("cloud.example", "mail.example"))
    verify(authority, issued, "mail.example", year)
    with pytest.raises(VerificationError):
        verify(authority, issued, "shop.example", year)
    with pytest.raises(VerificationError):
        verify(make_authority(), issued, "mail.example", year)


def test_an_appliance_keeps_its_authority(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path)
    authority = open_authority(settings)
    assert open_authority(settings) == authority
    key = tmp_path / FOLDER / "authority.key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert open_authority(Settings(state_dir=tmp_path / "other")) != authority
