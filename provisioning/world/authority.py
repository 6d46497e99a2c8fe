"""The appliance's own certificate authority, and the certificate of its worlds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from foundation.files import FileLock, write_atomic

if TYPE_CHECKING:
    from foundation.settings import Settings

# Guests and personas live in different years.
_NOT_BEFORE = datetime(2020, 1, 1, tzinfo=UTC)
_NOT_AFTER = datetime(2050, 1, 1, tzinfo=UTC)
_CERTIFICATE = "authority.crt"
FOLDER = "world-authority"
"""Folder of the authority in the state folder; its certificate is ``authority.crt``."""
_NAME = "Mesocosm worlds"


@dataclass(frozen=True, slots=True)
class Authority:
    """A certificate authority.

    Attributes:
        certificate: its certificate, PEM; who trusts it trusts all worlds of this appliance.
        key: its key, PEM.
    """

    certificate: str
    key: str

    def issue(self, names: tuple[str, ...]) -> str:
        """Return a new key and its certificate for some host names, PEM in one text."""
        issuer = x509.load_pem_x509_certificate(self.certificate.encode())
        signer = serialization.load_pem_private_key(self.key.encode(), password=None)
        assert isinstance(signer, ec.EllipticCurvePrivateKey)  # noqa: S101 - made below
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
        alternatives = x509.SubjectAlternativeName([x509.DNSName(name) for name in names])
        usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
        origin = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key())
        certificate = (
            _begin(subject, issuer.subject, key.public_key())
            .add_extension(alternatives, critical=False)
            .add_extension(usage, critical=False)
            .add_extension(origin, critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .sign(signer, hashes.SHA256())
        )
        return _write_key(key) + _write(certificate)


def open_authority(settings: Settings) -> Authority:
    """Return the appliance's authority, which is made when it is first needed."""
    folder = settings.state_dir / FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    certificate, key = folder / _CERTIFICATE, folder / "authority.key"
    lock = FileLock(folder / "lock")
    lock.acquire()
    try:
        if not certificate.is_file():
            made = make_authority()
            write_atomic(key, made.key, mode=0o600)
            write_atomic(certificate, made.certificate)
        return Authority(certificate.read_text(), key.read_text())
    finally:
        lock.release()


def make_authority() -> Authority:
    """Return a new authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, _NAME)])
    usage = x509.KeyUsage(
        digital_signature=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=True,
        crl_sign=True,
        encipher_only=False,
        decipher_only=False,
    )
    certificate = (
        _begin(name, name, key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .sign(key, hashes.SHA256())
    )
    return Authority(_write(certificate), _write_key(key))


def _begin(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(_NOT_BEFORE)
        .not_valid_after(_NOT_AFTER)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _write(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(serialization.Encoding.PEM).decode()


def _write_key(key: ec.EllipticCurvePrivateKey) -> str:
    form, no_password = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, form, no_password).decode()
