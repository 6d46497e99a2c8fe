from __future__ import annotations

from appliance.doctor.appliance import judge_machines, judge_services
from appliance.doctor.check import State
from provisioning.fleet.liveness import ENDED, UNREACHABLE, SeenMachine, Sight

WELL = {"hypervisor": "", "docker": ""}


def test_a_stopped_service_is_a_failure_that_names_it() -> None:
    found = judge_services(
        {"hypervisor": "exited", "controller": "running"},
        {"hypervisor": False, "controller": True, "prometheus": False},
    )
    assert found.state is State.FAILED
    assert "The hypervisor is exited and does not answer." in found.cause
    assert "The prometheus is not there" in found.cause
    assert "mesocosm up" in found.cure


def test_services_that_answer_are_well() -> None:
    found = judge_services({"controller": "running"}, {"controller": True})
    assert found.state is State.OK


def test_a_machine_that_ended_is_named() -> None:
    sight = Sight((SeenMachine("desktop-1", "desktop", ENDED),), WELL)
    found = judge_machines(sight)
    assert found.state is State.WARN
    assert "desktop-1" in found.cause


def test_a_silent_host_is_a_failure() -> None:
    sight = Sight(
        (SeenMachine("desktop-1", "desktop", UNREACHABLE),), {**WELL, "hypervisor": "no socket"}
    )
    found = judge_machines(sight)
    assert found.state is State.FAILED
    assert "hypervisor: no socket" in found.cause


def test_machines_that_run_are_well() -> None:
    assert judge_machines(Sight((), WELL)).state is State.OK
