"""A self-signed certificate for 127.0.0.1, for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.service.api.server import Certificate
from foundation.process import run

if TYPE_CHECKING:
    from pathlib import Path


def make_certificate(folder: Path) -> Certificate:
    """Create a certificate in `folder`."""
    cert, key = folder / "cert.pem", folder / "key.pem"
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    names = ["-nodes", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    run([*made, *names, "-keyout", str(key), "-out", str(cert)]).require()
    return Certificate(cert, key)
