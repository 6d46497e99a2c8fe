"""Start and stop the service in the background: a process of this host, its log in the state folder."""

from __future__ import annotations

import ipaddress
import json
import os
import signal
import socket
import ssl
import sys
from typing import TYPE_CHECKING, Any

from appliance.base.clock import SYSTEM_CLOCK, wait_until
from appliance.base.errors import MachineStartError, SettingsError, ToolTimeoutError
from appliance.base.files import FileLock
from appliance.base.process import start_detached
from appliance.bringup.health import fetch
from appliance.bringup.ports import require_free
from appliance.bringup.upkeep import cut_log
from controller.planning import code_version
from controller.service.api.server import Certificate, require_protected

if TYPE_CHECKING:
    import threading
    from pathlib import Path

    from appliance.base.clock import Clock
    from appliance.base.settings import Settings
    from controller.service.process import Part

_START_TIMEOUT_S = 120.0
_STOP_TIMEOUT_S = 120.0
_TAIL_CHARS = 3000
_CUT_EVERY_S = 60.0


def service_lock(settings: Settings) -> FileLock:
    """Return the lock that the whole service holds while it runs."""
    return FileLock(settings.run_dir / "service.lock")


def service_url(settings: Settings) -> str:
    """Return the address of the service's API and pages, as people type it."""
    named = settings.service_hosts.partition(",")[0].strip()
    scheme = "https" if settings.service_tls_cert else "http"
    if named and not _is_loopback(settings.service_address):
        return f"{scheme}://{named}"
    return f"{scheme}://{_host(settings, wildcard=socket.gethostname())}:{settings.service_port}"


def service_certificate(settings: Settings) -> Certificate | None:
    """Return the certificate that the service shows; None where it speaks HTTP.

    Raises:
        SettingsError: there is a certificate without a key, or a key without a certificate.
        UsageError: it cannot be used, or the address needs one.
    """
    cert, key = settings.service_tls_cert, settings.service_tls_key
    if (cert is None) != (key is None):
        raise SettingsError("MESOCOSM_SERVICE_TLS_CERT and MESOCOSM_SERVICE_TLS_KEY go together.")
    require_protected(settings.service_address, has_tls=cert is not None, is_insecure=False)
    return None if cert is None or key is None else Certificate(cert, key)


def log_path(settings: Settings) -> Path:
    """Return the file that a service in the background writes its log to."""
    return settings.service_dir / "service.log"


def keep_log_small(settings: Settings, clock: Clock = SYSTEM_CLOCK) -> Part:
    """Return the part of the service that cuts the log of its standard error when it has grown."""

    def work(stop: threading.Event) -> None:
        while not stop.is_set():
            cut_log(log_path(settings))
            clock.wait(stop, _CUT_EVERY_S)

    return work


def find_service(settings: Settings) -> int | None:
    """Return the process id of the running service; None when there is none."""
    lock = service_lock(settings)
    if not lock.path.exists():
        return None
    text = lock.path.read_text(encoding="ascii")
    if lock.try_acquire(make_folder=False):
        lock.release()
        return None
    return int(text) if text.strip().isdecimal() else None


def start_service(settings: Settings, *, clock: Clock = SYSTEM_CLOCK) -> str:
    """Start the service unless it runs; one of another code is stopped first, and its runs go on.

    Args:
        settings: of the appliance.
        clock: measures how long it takes.

    Returns:
        What was done, a few words.

    Raises:
        UsageError: it cannot be reached as the settings ask for: TLS lacks or is wrong.
        RequirementError: its port is taken by another program.
        MachineStartError: it does not answer in time; with the end of its log.
        ToolTimeoutError: the old one does not stop.
    """
    service_certificate(settings)
    if find_service(settings) is not None:
        if _running_code(settings) == str(code_version()):
            return f"ran already, {service_url(settings)}"
        stop_service(settings, clock=clock)
    require_free(settings.service_port, "the service", "MESOCOSM_SERVICE_PORT")
    log = log_path(settings)
    argv = [sys.executable, "-m", "appliance.cli.main", "service", "run"]
    process = start_detached(argv, log=log)
    answers = wait_until(
        lambda: _running_code(settings) or process.poll() is not None,
        timeout_s=_START_TIMEOUT_S,
        every_s=0.2,
        clock=clock,
    )
    if not answers or process.poll() is not None:
        raise MachineStartError(
            "The service did not start.",
            details=f"The end of {log}:\n{log.read_text(errors='replace')[-_TAIL_CHARS:]}",
            resolution="Run `mesocosm service run` to see what it says.",
        )
    return f"started, {service_url(settings)}"


def stop_service(settings: Settings, *, clock: Clock = SYSTEM_CLOCK) -> str:
    """Stop the service: trials that run may finish for a minute, the rest is done by the next one.

    Returns:
        What was done, a few words.

    Raises:
        ToolTimeoutError: it does not stop.
    """
    process = find_service(settings)
    if process is None:
        return "did not run"
    os.kill(process, signal.SIGTERM)
    if not wait_until(
        lambda: find_service(settings) != process,
        timeout_s=_STOP_TIMEOUT_S,
        every_s=0.1,
        clock=clock,
    ):
        raise ToolTimeoutError(
            f"The service (process {process}) does not stop.",
            details=f"It was asked to {_STOP_TIMEOUT_S:g} s ago; its log is {log_path(settings)}.",
            resolution=f"`kill -9 {process}` ends it; the next service goes on with its runs.",
        )
    return "stopped"


def _running_code(settings: Settings) -> str:
    """Return which Mesocosm the running service is of; empty when it does not answer."""
    scheme = "https" if settings.service_tls_cert else "http"
    address = f"{scheme}://{_host(settings, wildcard='')}:{settings.service_port}"
    reply = fetch(f"{address}/healthz", trust=_trust(settings.service_tls_cert))
    if reply is None:
        return ""
    found: dict[str, Any] = json.loads(reply)
    return str(found.get("version", ""))


def _trust(certificate: Path | None) -> ssl.SSLContext | None:
    """Return what trusts the service's own certificate alone, whatever name stands in it."""
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
        wildcard: what stands for a service that listens at all addresses; empty for the loopback.
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
