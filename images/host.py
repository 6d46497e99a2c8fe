"""The host's own archive settings: apt sources, certificate authorities, pip's settings.

Builds use the same archives as the host, so this project contains no host name of an archive.
"""

from __future__ import annotations

import configparser
import io
import os
import re
from dataclasses import dataclass
from pathlib import Path

from foundation.errors import ToolError
from foundation.process import run

_AUTHORITIES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
)
# Files in which Debian's own tools keep the default archive of each vendor.
_TOOLS_WITH_DEFAULTS = ("/usr/share/debootstrap/scripts/gutsy", "/usr/bin/mmdebstrap")
_KEPT_APT_OPTIONS = ("Acquire::Check-Valid-Until", "Acquire::Check-Date", "Acquire::Retries")
_PROXIES = ("http_proxy", "https_proxy", "no_proxy")


@dataclass(frozen=True, slots=True)
class Archive:
    """One apt archive that the host is configured to use.

    Attributes:
        uri: base URL without a trailing slash.
        suite: such as ``bookworm`` or ``bookworm-security``.
        origin: such as ``Debian``; empty if the host never ran ``apt-get update``.
    """

    uri: str
    suite: str
    origin: str


def read_archives() -> list[Archive]:
    """Return the archives that this host's apt uses; empty if there is no apt."""
    wanted = "$(REPO_URI)|$(RELEASE)|$(ORIGIN)"
    try:
        text = run(["apt-get", "indextargets", "--format", wanted], timeout_s=20).text
    except ToolError:
        return []
    rows = dict.fromkeys(line for line in text.splitlines() if line.count("|") == 2)  # noqa: PLR2004
    archives = []
    for row in rows:
        uri, suite, origin = row.split("|")
        archives.append(Archive(uri.rstrip("/"), suite, "" if "$(" in origin else origin))
    return archives


def read_default_archive(vendor: str) -> str | None:
    """Return a vendor's default archive according to the bootstrap tools, or None.

    Args:
        vendor: ``debian`` or ``ubuntu``.
    """
    pattern = re.compile(rf"https?://[^\s'\"/]+/{vendor}\b")
    for name in _TOOLS_WITH_DEFAULTS:
        path = Path(name)
        if path.is_file() and (match := pattern.search(path.read_text(errors="replace"))):
            return match.group()
    return None


def read_apt_options() -> list[str]:
    """Return the host's apt options that builds must use, such as a lenient validity check."""
    try:
        text = run(["apt-config", "dump"], timeout_s=10).text
    except ToolError:
        return []
    return [line for line in text.splitlines() if line.startswith(_KEPT_APT_OPTIONS)]


def read_authorities() -> bytes:
    """Return the certificate authorities that this host trusts, as PEM; empty if it has none."""
    chosen = [os.environ.get(name, "") for name in ("PIP_CERT", "SSL_CERT_FILE")]
    for name in (*chosen, *_AUTHORITIES):
        if name and Path(name).is_file():
            return Path(name).read_bytes()
    return b""


def read_pip_conf(authorities: str) -> bytes:
    """Return a ``pip.conf`` that accesses the package index as this host's pip does.

    Only network addresses are copied, not local folders. It can contain secrets from the host's
    environment, so it must not be in final images.

    Args:
        authorities: path of the authorities' file in the build.
    """
    conf = configparser.ConfigParser(interpolation=None)
    conf["global"] = {"disable-pip-version-check": "true"}
    if read_authorities():
        conf["global"]["cert"] = authorities
    for option in ("index-url", "extra-index-url", "trusted-host", "timeout", "proxy"):
        value = os.environ.get(f"PIP_{option.upper().replace('-', '_')}", "")
        kept = [word for word in value.split() if not word.startswith(("file:", "/"))]
        if kept:
            conf["global"][option] = "\n".join(kept)
    out = io.StringIO()
    conf.write(out)
    return out.getvalue().encode()


def read_proxies() -> dict[str, str]:
    """Return this host's proxy variables; docker keeps these build arguments out of images."""
    proxies = {}
    for name in _PROXIES:
        if value := os.environ.get(name) or os.environ.get(name.upper()):
            proxies[name] = value
            proxies[name.upper()] = value
    return proxies
