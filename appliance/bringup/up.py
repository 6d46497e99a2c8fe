"""Bring the appliance up; each step only does what is missing."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from appliance.bringup.images import (
    ensure_viewer,
    finish_images,
    images_being_built,
    require_recipes,
    tags_of,
)
from appliance.bringup.machines import prepare_machines
from appliance.bringup.service import stop_process
from appliance.doctor.check import State
from appliance.doctor.checks import examine_host
from appliance.doctor.hardware import check_disk, check_memory
from appliance.services.address import service_certificate
from appliance.services.alerts import read_receivers
from appliance.services.compose import SERVICES, Compose, require_compatible_compose
from appliance.services.engine import ensure_engine, find_engine, require_supported
from appliance.services.health import controller_url, prometheus_url, wait_ready
from appliance.services.ports import require_free
from foundation.bounded import BackgroundCall
from foundation.errors import MesocosmError, RequirementError
from foundation.files import locked
from provisioning.accelerator.detection import find_accelerator

if TYPE_CHECKING:
    from collections.abc import Callable

    from appliance.bringup.images import Builds
    from appliance.bringup.steps import Steps
    from controller.store.report import Report
    from foundation.settings import Settings

STATE_MARK = ".mesocosm"
"""Name of the file that marks a folder as an appliance's state, which we may purge."""

_OF_SERVICES_ALONE = {"controller", "prometheus", "alertmanager"}
"""Images that no machine needs."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a bring-up.

    Attributes:
        controller: address of the page.
        prometheus: address of Prometheus.
        accelerator: ``kvm`` or ``tcg``.
        report: of the trial; None without one.
    """

    controller: str
    prometheus: str
    accelerator: str
    report: Report | None

    @property
    def is_proven(self) -> bool:
        """Whether no trial was requested, or it passed."""
        return self.report is None or self.report.verdicts["PASS"] == len(self.report.trials) > 0


def bring_up(
    settings: Settings, steps: Steps, *, trial: bool, ask: Callable[[str], bool]
) -> Outcome:
    """Bring the appliance up.

    Args:
        settings: of the appliance.
        steps: shows the progress.
        trial: end with a scored trial.
        ask: asks the user before the docker engine is started; False ends the bring-up.

    Raises:
        UsageError: the settings of alerts or of the service's address cannot work; nothing was
            started.
        RequirementError: the host lacks a requirement, or the user declined.
        MesocosmError: a step failed; whatever was running before is still running.
    """
    read_receivers()
    service_certificate(settings)
    _claim(settings)
    is_engine_up = find_engine()
    with locked(settings.run_dir / "up.lock", what="The bring-up"):
        with steps.step("host") as step:
            step.note = _check_host(settings)
        if not is_engine_up and not ask("The docker engine is not running. Start it?"):
            raise RequirementError(
                "The docker engine is required, but is not running.",
                resolution="Start it and run this again, or confirm that it may be started (--yes).",
            )
        with steps.step("docker engine") as step:
            step.note = ensure_engine(settings)
            require_supported()
            require_compatible_compose()
            require_recipes(settings)
        is_first = not Compose(settings).services()
        if is_first:
            _clear_ports(Compose(settings))
        with images_being_built(settings, steps) as builds:
            if is_first:
                compose = _bring_all(settings, steps, builds)
            else:
                images = finish_images(settings, builds)
                compose = _compose(settings, steps)
                _bring_services(compose, images, steps)
                _prepare_machines(settings, steps)
        report = _prove(settings, steps) if trial else None
    return Outcome(controller_url(settings), prometheus_url(settings), compose.accelerator, report)


def _claim(settings: Settings) -> None:
    """Create the state folder, private to this user, and mark it as ours."""
    try:
        settings.state_dir.mkdir(parents=True, exist_ok=True)
        if not (settings.state_dir / STATE_MARK).exists():
            settings.state_dir.chmod(0o700)
            (settings.state_dir / STATE_MARK).touch()
        settings.run_dir.mkdir(exist_ok=True)
    except OSError as exc:
        raise RequirementError(
            f"Cannot write the state folder {settings.state_dir}.",
            details=str(exc),
            resolution="Run as root, or set MESOCOSM_STATE_DIR to a folder that you own.",
        ) from exc


def _check_host(settings: Settings) -> str:
    findings = [check_disk(settings), check_memory(settings)]
    for finding in findings:
        if finding.state in {State.FAILED, State.MISSING}:
            raise RequirementError(finding.cause, resolution=finding.resolution)
    return " ".join(finding.cause for finding in findings)


def _compose(settings: Settings, steps: Steps) -> Compose:
    with steps.step("accelerator") as step:
        accelerator = find_accelerator(settings)
        step.note = f"{accelerator.name}: {accelerator.reason}"
    return Compose(settings, kvm=accelerator.name == "kvm")


def _prepare_machines(settings: Settings, steps: Steps) -> None:
    with steps.step("machines") as step:
        step.note = prepare_machines(settings, step.say)


def _bring_all(settings: Settings, steps: Steps, builds: Builds) -> Compose:
    """Bring up an appliance from nothing; machines boot while the services' images are built."""
    images = tags_of(builds.wait(set(builds.names) - _OF_SERVICES_ALONE))
    compose = _compose(settings, steps)
    with steps.step("hypervisor") as step:
        compose.write_env(dict.fromkeys(_OF_SERVICES_ALONE, "not-built-yet") | images)
        compose.up("hypervisor")
        wait_ready(compose, ["hypervisor"])
        step.note = "answers"

    def bring() -> None:
        _bring_services(compose, finish_images(settings, builds), steps, spin=False)

    services = BackgroundCall(bring)
    _prepare_machines(settings, steps)
    services.result()
    return compose


def _bring_services(
    compose: Compose, images: dict[str, str], steps: Steps, *, spin: bool = True
) -> None:
    settings = compose.settings
    with steps.step("live screens", spin=spin) as step:
        step.note = ensure_viewer(settings)
    examining = threading.Thread(target=examine_host, args=(settings,), daemon=True)
    examining.start()
    with steps.step("services", spin=spin) as step:
        _start_services(compose, images)
        step.note = ", ".join(SERVICES)
    examining.join()


def _start_services(compose: Compose, images: dict[str, str]) -> None:
    _clear_ports(compose)
    compose.write_env(images)
    compose.up()
    wait_ready(compose)


def _clear_ports(compose: Compose) -> None:
    """Stop this state folder's service process on the host, and check that other ports are free."""
    settings = compose.settings
    stop_process(settings)  # the worker continues its runs
    running = {state.name for state in compose.services() if state.state == "running"}
    ports = [
        ("controller", settings.controller_port, "CONTROLLER"),
        ("controller", settings.service_port, "SERVICE"),
    ]
    if settings.publish_prometheus:
        ports.append(("prometheus", settings.prometheus_port, "PROMETHEUS"))
    for service, port, name in ports:
        if service not in running:
            require_free(port, f"the {service}", f"MESOCOSM_{name}_PORT")


def _prove(settings: Settings, steps: Steps) -> Report:
    from appliance.bringup.trial import run_trial, trial_of  # noqa: PLC0415 - slow to import

    with steps.step("scored trial") as step:
        report = run_trial(settings, step.say)
        step.note = "/".join(trial_of(settings)) + ": "
        step.note += ", ".join(trial.verdict for trial in report.trials)
        if not report.trials:
            raise MesocosmError("The trial did not end.", resolution="See `mesocosm results`.")
    return report
