"""Checks of the network: ports, registry, archives, clock."""

from __future__ import annotations

import email.utils
import urllib.error
import urllib.request
from typing import TYPE_CHECKING

from appliance.doctor.check import Finding, State
from appliance.services.health import metrics_answer, prometheus_answers, service_answers
from appliance.services.ports import find_holders, is_free
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import EngineError, RequirementError
from images.catalog import NAMES
from images.distribution import (
    BASE,
    DISTRIBUTIONS,
    FALLBACK,
    PREFERRED_UBUNTU,
    check_archive,
    find_mirror,
)
from images.engine import connect

if TYPE_CHECKING:
    from collections.abc import Callable

    from foundation.clock import Clock
    from foundation.settings import Settings

_DEADLINE_S = 4.0
_MAX_SKEW_S = 300.0
_EPOCH_OF_PROJECT_S = 1_760_000_000.0  # October 2025: an earlier clock is certainly wrong
_NETWORK = "Check name server, proxy and firewall"


def check_ports(settings: Settings) -> Finding:
    """Check that each loopback port is free, or used by this appliance itself."""
    ports: list[tuple[str, int, Callable[[Settings], bool]]] = [
        ("controller_port", settings.controller_port, metrics_answer),
        ("service_port", settings.service_port, service_answers),
    ]
    if settings.publish_prometheus:
        ports.append(("prometheus_port", settings.prometheus_port, prometheus_answers))
    ours, taken = [], []
    for name, port, answers in ports:
        if is_free(port):
            continue
        if answers(settings):
            ours.append(str(port))
        else:
            taken.append((name, port, ", ".join(find_holders(port)) or "an unknown process"))
    if taken:
        cause = " ".join(f"Port {port} ({name}) is used by {who}." for name, port, who in taken)
        variables = ", ".join(f"MESOCOSM_{name.upper()}" for name, _, _ in taken)
        return Finding(State.FAILED, cause, f"Stop it, or set other ports: {variables}.")
    listed = ", ".join(str(port) for _, port, _ in ports)
    note = f" (used by this appliance: {', '.join(ours)})" if ours else ""
    return Finding(State.OK, f"Ports {listed} are free{note}.")


def check_registry(settings: Settings) -> Finding:
    """Check, through the docker engine, whether a registry provides the base image."""
    del settings
    reference = BASE.registry_image
    try:
        with connect(_DEADLINE_S, doing="ask a registry") as client:
            client.ping()
            client.images.get_registry_data(reference)
    except EngineError as exc:
        return Finding(
            State.WARN,
            f"No registry provides {reference}: {exc.details[-160:]}",
            "No action required: images are built from the distribution's archive instead.",
        )
    except RequirementError:
        return Finding(State.WARN, "Not checked: the Docker engine does not answer in time.")
    return Finding(State.OK, f"A registry provides {reference}.")


def check_base_archive(settings: Settings) -> Finding:
    """Check that the archive that docker images are built from answers."""
    distribution = BASE
    reach = check_archive(distribution, settings, timeout_s=_DEADLINE_S)
    if reach.ok:
        return Finding(State.OK, f"{distribution.name}: {reach.reason}.")
    resolution = f"{_NETWORK}, or set MESOCOSM_MIRROR_{distribution.vendor.upper()} to a mirror."
    if _has_all_images(settings):
        return Finding(State.WARN, f"{reach.reason}. All images are built already.", resolution)
    return Finding(State.FAILED, f"{reach.reason}.", resolution)


def check_desktop_archives(settings: Settings) -> Finding:
    """Check which distributions a desktop can be built from."""
    wanted = settings.distribution
    names = [PREFERRED_UBUNTU, FALLBACK] if wanted == "auto" else [wanted]
    lacking: list[str] = []
    for name in names:
        if name not in DISTRIBUTIONS:
            known = ", ".join(DISTRIBUTIONS)
            return Finding(
                State.FAILED,
                f"There is no distribution {name!r}.",
                f"Set MESOCOSM_DISTRIBUTION to auto or one of: {known}.",
            )
        reach = check_archive(DISTRIBUTIONS[name], settings, timeout_s=_DEADLINE_S / len(names))
        if reach.ok:
            note = f" ({' '.join(lacking)})" if lacking else ""
            state = State.WARN if lacking else State.OK
            resolution = "No action required." if lacking else ""
            return Finding(state, f"The desktop can be built from {name}{note}.", resolution)
        lacking.append(f"{reach.reason}.")
    resolution = f"{_NETWORK}, or set MESOCOSM_MIRROR_UBUNTU or MESOCOSM_MIRROR_DEBIAN to a mirror."
    if any(settings.images_dir.glob("desktop/*/manifest.json")):
        return Finding(State.WARN, f"{' '.join(lacking)} A desktop is built already.", resolution)
    return Finding(State.FAILED, " ".join(lacking), resolution)


def check_clock(settings: Settings, *, clock: Clock = SYSTEM_CLOCK) -> Finding:
    """Compare the clock with that of the archive's server: certificates depend on it."""
    now_s = clock.now_s()
    resolution = "Set the clock, for example with `timedatectl set-ntp true`."
    if now_s < _EPOCH_OF_PROJECT_S:
        return Finding(State.FAILED, "The clock is earlier than this project.", resolution)
    server_s = _server_time_s(settings)
    if server_s is None:
        return Finding(State.OK, "The clock looks right; there was no server to compare it with.")
    skew_s = clock.now_s() - server_s
    if abs(skew_s) > _MAX_SKEW_S:
        return Finding(
            State.WARN,
            f"The clock differs by {skew_s:+.0f} s from an archive's server.",
            resolution,
        )
    return Finding(State.OK, f"The clock is within {abs(skew_s):.0f} s of an archive's server.")


def _server_time_s(settings: Settings) -> float | None:
    """Return the time in the replies of an archive's server."""
    mirror = find_mirror(BASE, settings)
    if mirror is None:
        return None
    request = urllib.request.Request(mirror + "/", method="HEAD")  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=_DEADLINE_S) as reply:  # noqa: S310
            date = reply.headers["Date"]
    except urllib.error.HTTPError as exc:
        date = exc.headers["Date"]
    except (OSError, ValueError):
        return None
    return email.utils.parsedate_to_datetime(date).timestamp() if date else None


def _has_all_images(settings: Settings) -> bool:
    return all(any(settings.images_dir.glob(f"{name}/*/manifest.json")) for name in NAMES)
