"""Checks of the appliance itself, once it is up: services, alerts and machines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from appliance.doctor.check import Finding, State
from appliance.services.alerts import describe_receivers, expected_config, written_config
from appliance.services.compose import SERVICES, Compose
from appliance.services.health import ask
from foundation.errors import RequirementError, SettingsError
from provisioning.fleet.liveness import ENDED, open_liveness

if TYPE_CHECKING:
    from collections.abc import Mapping

    from foundation.settings import Settings
    from provisioning.fleet.liveness import LivenessReport

_NOT_UP = "The appliance is not up."


def check_services(settings: Settings) -> Finding:
    """Check that every service of a running appliance answers, including stopped or killed ones."""
    states = _service_states(settings)
    if not states:
        return Finding(State.OK, f"{_NOT_UP} To start it, run `mesocosm up`.")
    return judge_services(states, ask(settings, SERVICES))


def judge_services(states: Mapping[str, str], answers: Mapping[str, bool | None]) -> Finding:
    """Return the finding about services.

    Args:
        states: docker's state of each container, by service.
        answers: whether each service answers; None if unknown.
    """
    silent = [
        f"The {name} is {states.get(name, 'missing')} and does not answer."
        for name, is_answered in answers.items()
        if is_answered is False
    ]
    if silent:
        resolution = (
            "Run `mesocosm up` to start missing services; for the reason, see `docker logs` of the "
            "container."
        )
        return Finding(State.FAILED, " ".join(silent), resolution)
    return Finding(State.OK, f"{', '.join(answers)} answer.")


def check_alerts(settings: Settings) -> Finding:
    """Report where alerts are sent, and whether the running Alertmanager matches this environment."""
    try:
        expected = expected_config()
    except SettingsError as exc:
        return Finding(State.FAILED, f"{exc.brief} {exc.details}".strip(), exc.resolution)
    written = written_config(settings)
    is_up = "alertmanager" in _service_states(settings)
    return judge_alerts(expected, written if is_up else "")


def judge_alerts(expected: str, written: str) -> Finding:
    """Return the finding about alerts.

    Args:
        expected: configuration for this environment.
        written: configuration of the running Alertmanager; empty if it does not run.
    """
    if written and written != expected:
        return Finding(
            State.WARN,
            f"{_route(written)} The settings of this shell differ: {_route(expected)}",
            "To apply the settings of this shell, run `mesocosm up` in it.",
        )
    is_sent = bool(describe_receivers(expected))
    resolution = (
        "" if is_sent else "To send them, set MESOCOSM_ALERT_WEBHOOK or MESOCOSM_ALERT_MAIL_TO."
    )
    return Finding(State.OK, _route(expected), resolution)


def _route(config: str) -> str:
    sent = "; ".join(describe_receivers(config))
    return f"Alerts are sent to {sent}." if sent else "Alerts are only shown on the pages."


def check_machines(settings: Settings) -> Finding:
    """Check that all machines that should run do."""
    if not _service_states(settings):
        return Finding(State.OK, _NOT_UP)
    liveness = open_liveness(settings)
    try:
        return judge_machines(liveness.check())
    finally:
        liveness.close()


def judge_machines(liveness_report: LivenessReport) -> Finding:
    """Return the finding about machines."""
    silent = [f"{name}: {why}" for name, why in liveness_report.hosts.items() if why]
    if silent:
        lost = (
            f" The state of {len(liveness_report.lost)} machines is unknown."
            if liveness_report.lost
            else ""
        )
        return Finding(
            State.FAILED,
            f"A backend of machines does not answer. {'; '.join(silent)}.{lost}",
            "Run `mesocosm up` to start it. Machines that were saved restart automatically.",
        )
    ended = [machine.machine_id for machine in liveness_report.lost if machine.state == ENDED]
    if ended:
        return Finding(
            State.WARN,
            f"Machines ended unexpectedly: {', '.join(ended)}.",
            "The next lease restarts a saved machine. A running worker removes forks within a "
            "minute; to remove them now, run `mesocosm machine sweep`.",
        )
    return Finding(State.OK, f"{len(liveness_report.machines)} machines match their records.")


def _service_states(settings: Settings) -> dict[str, str]:
    """Return docker's state of each container of the appliance; empty if it is not up."""
    try:
        return {service.name: service.state for service in Compose(settings).services()}
    except RequirementError:
        return {}
