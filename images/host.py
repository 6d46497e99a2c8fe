"""What this host knows about its own archives: apt sources, authorities, pip's settings.

Builds use the very archives the host uses, so no host name of an archive stands in this project.
"""

from __future__ import annotations

import configparser
import io
import os
import platform
import re
from dataclasses import dataclass
from pathlib import Path

from appliance.base.errors import ToolError
from appliance.base.process import run

_AUTHORITIES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
)
# Where Debian's own tools keep the default archive of each vendor.
_TOOLS_WITH_DEFAULTS = ("/usr/share/debootstrap/scripts/gutsy", "/usr/bin/mmdebstrap")
_KEPT_APT_OPTIONS = ("Acquire::Check-Valid-Until", "Acquire::Check-Date", "Acquire::Retries")
_PROXIES = ("http_proxy", "https_proxy", "no_proxy")


@dataclass(frozen=True, slots=True)
class Archive:
    """One apt archive the host is set up to use.

    Attributes:
        uri: base address, no slash at its end.
        suite: such as ``bookworm`` or ``bookworm-security``.
        origin: such as ``Debian``; empty while the host never ran ``apt-get update``.
    """

    uri: str
    suite: str
    origin: str


def read_archives() -> list[Archive]:
    """Ask apt which archives this host uses; empty where there is no apt."""
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
    """Read a vendor's default archive out of the tools that know it, or None.

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
    """Return the host's apt options that builds must share, such as a lenient validity check."""
    try:
        text = run(["apt-config", "dump"], timeout_s=10).text
    except ToolError:
        return []
    return [line for line in text.splitlines() if line.startswith(_KEPT_APT_OPTIONS)]


def read_os_release() -> tuple[str, str]:
    """Return this host's distribution and version, such as ``("debian", "12")``."""
    try:
        data = platform.freedesktop_os_release()
    except OSError:
        return "", ""
    return data.get("ID", ""), data.get("VERSION_ID", "")


def read_authorities() -> bytes:
    """Return the certificate authorities this host trusts, PEM; empty when it has none."""
    chosen = [os.environ.get(name, "") for name in ("PIP_CERT", "SSL_CERT_FILE")]
    for name in (*chosen, *_AUTHORITIES):
        if name and Path(name).is_file():
            return Path(name).read_bytes()
    return b""


def read_pip_conf(authorities: str) -> bytes:
    """Write a ``pip.conf`` that reaches the package index the way this host's pip does.

    Only network addresses are taken over, local folders are not; it holds what the host's
    environment holds, secrets too, so it must stay out of final images.

    Args:
        authorities: where the authorities' file will be in the build.
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
    """Return the proxy variables of this host; docker keeps these build arguments out of images."""
    proxies = {}
    for name in _PROXIES:
        if value := os.environ.get(name) or os.environ.get(name.upper()):
            proxies[name] = value
            proxies[name.upper()] = value
    return proxies
