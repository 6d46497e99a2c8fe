"""Checks of the appliance itself, once it is up: services and machines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from appliance.base.errors import RequirementError, SettingsError
from appliance.bringup.alerts import describe_receivers, expected_config, written_config
from appliance.bringup.compose import SERVICES, Compose
from appliance.bringup.health import ask
from appliance.doctor.check import Finding, State
from provisioning.fleet.liveness import ENDED, open_liveness

if TYPE_CHECKING:
    from collections.abc import Mapping

    from appliance.base.settings import Settings
    from provisioning.fleet.liveness import Sight

_NOT_UP = "The appliance is not up."


def check_services(settings: Settings) -> Finding:
    """Ask every service of an appliance that is up; one that was stopped or killed is found."""
    states = _service_states(settings)
    if not states:
        return Finding(State.OK, f"{_NOT_UP} `mesocosm up` starts it.")
    return judge_services(states, ask(settings, SERVICES))


def judge_services(states: Mapping[str, str], answers: Mapping[str, bool | None]) -> Finding:
    """Return the finding about services.

    Args:
        states: docker's word for each container, by service.
        answers: whether each service answers; None for one that was not asked.
    """
    silent = [
        f"The {name} is {states.get(name, 'not there')} and does not answer."
        for name, is_answered in answers.items()
        if is_answered is False
    ]
    if silent:
        resolution = (
            "`mesocosm up` starts what does not run; `docker logs` of its container says why."
        )
        return Finding(State.FAILED, " ".join(silent), resolution)
    return Finding(State.OK, f"{', '.join(answers)} answer.")


def check_alerts(settings: Settings) -> Finding:
    """Say where alerts go, and whether the running Alertmanager is set as this environment asks for."""
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
        expected: configuration that this environment asks for.
        written: the one that Alertmanager runs with; empty where it does not.
    """
    if written and written != expected:
        return Finding(
            State.WARN,
            f"{_route(written)} The settings of this shell ask for something else: {_route(expected)}",
            "`mesocosm up` takes the settings of the shell that it is called in.",
        )
    is_sent = bool(describe_receivers(expected))
    resolution = "" if is_sent else "MESOCOSM_ALERT_WEBHOOK and MESOCOSM_ALERT_MAIL_TO send them."
    return Finding(State.OK, _route(expected), resolution)


def _route(config: str) -> str:
    sent = "; ".join(describe_receivers(config))
    return f"Alerts go to {sent}." if sent else "Alerts are shown on the pages alone."


def check_machines(settings: Settings) -> Finding:
    """Look whether the machines run that should."""
    if not _service_states(settings):
        return Finding(State.OK, _NOT_UP)
    liveness = open_liveness(settings)
    try:
        return judge_machines(liveness.look())
    finally:
        liveness.close()


def judge_machines(sight: Sight) -> Finding:
    """Return the finding about machines."""
    silent = [f"{name}: {why}" for name, why in sight.hosts.items() if why]
    if silent:
        lost = f" {len(sight.lost)} machines cannot be asked about." if sight.lost else ""
        return Finding(
            State.FAILED,
            f"Who runs machines does not answer. {'; '.join(silent)}.{lost}",
            "`mesocosm up` starts it. Machines that were saved start again by themselves.",
        )
    ended = [machine.machine_id for machine in sight.lost if machine.state == ENDED]
    if ended:
        return Finding(
            State.WARN,
            f"Ended without having been asked to: {', '.join(ended)}.",
            "The next lease starts a saved machine again. A running worker removes forks within a "
            "minute; `mesocosm machine sweep` does so now.",
        )
    return Finding(State.OK, f"{len(sight.machines)} machines are as their records say.")


def _service_states(settings: Settings) -> dict[str, str]:
    """Return docker's word for each container of the appliance; empty where it is not up."""
    try:
        return {service.name: service.state for service in Compose(settings).services()}
    except RequirementError:
        return {}
