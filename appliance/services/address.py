"""Address and certificate of the service, and whether it answers."""

from __future__ import annotations

import ipaddress
import json
import socket
import ssl
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

from controller.service.api.server import Certificate, require_protected
from foundation.errors import SettingsError

if TYPE_CHECKING:
    from pathlib import Path

    from foundation.settings import Settings

_ASK_TIMEOUT_S = 5.0


def fetch(url: str, *, trust: ssl.SSLContext | None = None) -> bytes | None:
    """Fetch a page from this host; None if there is no successful reply.

    Args:
        url: of the page.
        trust: context that defines the trusted certificates; Python's by default.
    """
    # Never use a proxy from the environment: these are addresses of this host.
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=trust)
    )
    try:
        with opener.open(url, timeout=_ASK_TIMEOUT_S) as reply:
            return bytes(reply.read())
    except (OSError, urllib.error.URLError):
        return None


def service_url(settings: Settings) -> str:
    """Return the address of the service's API and pages, for people to open."""
    named = settings.service_hosts.partition(",")[0].strip()
    scheme = "https" if settings.service_tls_cert else "http"
    if named and not _is_loopback(settings.service_address):
        return f"{scheme}://{named}"
    return f"{scheme}://{_host(settings, wildcard=socket.gethostname())}:{settings.service_port}"


def service_certificate(settings: Settings) -> Certificate | None:
    """Return the certificate of the service; None if it uses plain HTTP.

    Raises:
        SettingsError: there is a certificate without a key, or a key without a certificate.
        UsageError: it cannot be used, or the address requires one.
    """
    cert, key = settings.service_tls_cert, settings.service_tls_key
    if (cert is None) != (key is None):
        raise SettingsError(
            "MESOCOSM_SERVICE_TLS_CERT and MESOCOSM_SERVICE_TLS_KEY must be set together."
        )
    require_protected(
        settings.service_address,
        has_tls=cert is not None,
        is_insecure=False,
        resolution="Set MESOCOSM_SERVICE_TLS_CERT and MESOCOSM_SERVICE_TLS_KEY, or "
        "MESOCOSM_SERVICE_ADDRESS to 127.0.0.1.",
    )
    return None if cert is None or key is None else Certificate(cert, key)


def running_code(settings: Settings) -> str:
    """Return the Mesocosm version of the running service; empty if it does not answer."""
    scheme = "https" if settings.service_tls_cert else "http"
    address = f"{scheme}://{_host(settings, wildcard='')}:{settings.service_port}"
    reply = fetch(f"{address}/healthz", trust=make_trust_context(settings.service_tls_cert))
    if reply is None:
        return ""
    health: dict[str, Any] = json.loads(reply)
    return str(health.get("version", ""))


def make_trust_context(certificate: Path | None) -> ssl.SSLContext | None:
    """Return a context that only trusts the service's certificate, with any host name."""
    if certificate is None:
        return None
    context = ssl.create_default_context(cafile=certificate)
    context.check_hostname = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    return context


def _host(settings: Settings, *, wildcard: str) -> str:
    """Return the host of the service's addresses.

    Args:
        settings: of the appliance.
        wildcard: host to use if the service listens on all addresses; empty for the loopback.
    """
    address = settings.service_address
    if address in {"0.0.0.0", "::"}:  # noqa: S104 - compared, not listened on
        address = wildcard or ("127.0.0.1" if address == "0.0.0.0" else "::1")  # noqa: S104
    return f"[{address}]" if ":" in address else address


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"
