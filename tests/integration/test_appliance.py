"""Tests of the appliance that `mesocosm up` started; `make test` starts it before all tests."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

import pytest

from appliance.services.address import fetch
from appliance.services.compose import hypervisor_memory_mib
from appliance.services.health import controller_url, query
from foundation.clock import wait_until
from foundation.measures import record
from foundation.process import CommandResult, run
from foundation.settings import REPOSITORY, get_settings
from tests.standins.appliance import NEEDS_APPLIANCE

if TYPE_CHECKING:
    from pathlib import Path

    from foundation.settings import Settings

pytestmark = [
    pytest.mark.docker,
    pytest.mark.prometheus,
    pytest.mark.vm,
    NEEDS_APPLIANCE,
]


@pytest.fixture
def settings() -> Settings:
    return get_settings()


def mesocosm(*args: str, timeout_s: float = 120, **env: str) -> CommandResult:
    return run([sys.executable, "-m", "appliance.cli.main", *args], timeout_s=timeout_s, env=env)


def status() -> dict[str, Any]:
    appliance_status: dict[str, Any] = json.loads(mesocosm("status", "--json").require().stdout)
    return appliance_status


def test_every_service_responds_and_a_machine_of_each_kind_is_ready() -> None:
    appliance_status = status()
    assert appliance_status["up"] is True
    assert {service["name"]: service["state"] for service in appliance_status["services"]} == {
        "hypervisor": "running",
        "controller": "running",
        "worker": "running",
        "prometheus": "running",
        "alertmanager": "running",
    }
    assert isinstance(appliance_status["alerts_to"], list)
    assert {machine["kind"] for machine in appliance_status["machines"]} >= {"desktop", "phone"}


def test_metrics_are_served(settings: Settings) -> None:
    metrics = fetch(f"{controller_url(settings)}/metrics")
    assert metrics is not None
    assert b"mesocosm_machines{" in metrics


def test_rebound_name_reads_nothing_and_prometheus_has_no_port(settings: Settings) -> None:
    request = Request(f"{controller_url(settings)}/metrics", headers={"Host": "evil.test"})  # noqa: S310
    with pytest.raises(HTTPError) as caught:
        build_opener(ProxyHandler({})).open(request, timeout=10)
    with caught.value as error:
        assert error.code == 421
    name = "{{.Names}} {{.Ports}}"
    shown = run(["docker", "ps", "--format", name, "--filter", "name=mesocosm_prometheus"])
    assert "->" not in shown.require().text


def test_measure_reaches_prometheus_within_two_scrapes(settings: Settings) -> None:
    expression = 'mesocosm_errors_total{code="test"}'
    before = query(settings, expression)
    old = float(before[0]["value"][1]) if before else 0.0
    record("errors_total", code="test")

    def arrived() -> bool:
        rows = query(settings, expression)
        return bool(rows) and float(rows[0]["value"][1]) == old + 1

    assert wait_until(arrived, timeout_s=15)


def test_prometheus_loads_the_rules(settings: Settings) -> None:
    # A recording rule that was loaded has been evaluated at least once.
    expression = 'prometheus_rule_group_rules{rule_group=~".*mesocosm"}'
    rules = wait_until(lambda: query(settings, expression), timeout_s=45)
    assert rules
    assert float(rules[0]["value"][1]) >= 8


def test_second_bring_up_changes_nothing_and_is_quick() -> None:
    result = mesocosm("up", "--yes", "--no-trial", "--json", timeout_s=180).require()
    outcome = json.loads(result.stdout)
    assert outcome["ok"] is True
    built = [step for step in outcome["steps"] if "(built)" in step["note"]]
    assert built == []
    assert sum(step["seconds"] for step in outcome["steps"]) < 60


def test_concurrent_bring_up_is_rejected(settings: Settings) -> None:
    from foundation.files import locked

    with locked(settings.run_dir / "up.lock", what="The test"):
        result = mesocosm("up", "--yes", "--no-trial")
    assert result.exit_code == 1
    assert b"in use by another process" in result.stderr


def test_compromised_hypervisor_reaches_neither_keys_nor_results(settings: Settings) -> None:
    names = run(["docker", "ps", "--format", "{{.Names}}", "--filter", "name=mesocosm_hypervisor"])
    (name,) = names.require().text.splitlines()
    seen = run(["docker", "exec", name, "ls", "-A", str(settings.state_dir)]).require().text
    assert set(seen.split()) == {"images", "machines", "run", "templates"}
    # A phone's console accepts commands from anyone with its token.
    assert list(settings.devices_dir.glob("phone-*/console-token"))
    mine = run(["docker", "exec", name, "ls", "-A", str(settings.machines_dir)]).require().text
    assert all(folder.startswith("desktop-") for folder in mine.split())
    run_dir = run(["docker", "exec", name, "ls", "-A", str(settings.run_dir)]).require().text
    assert run_dir.split() == ["libvirt"]
    touched = run(["docker", "exec", name, "touch", str(settings.images_dir / "x")])
    assert b"Read-only" in touched.stderr
    asked = "{{.HostConfig.Memory}} {{.HostConfig.OomScoreAdj}}"
    memory, score = run(["docker", "inspect", "--format", asked, name]).require().text.split()
    assert int(memory) == hypervisor_memory_mib() << 20
    assert int(score) == 500


def test_taken_port_is_reported_with_its_holder(tmp_path: Path) -> None:
    import socket

    from appliance.bringup.up import _start_services
    from appliance.services.compose import Compose
    from foundation.errors import RequirementError
    from foundation.settings import Settings

    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        other = Compose(Settings(state_dir=tmp_path, controller_port=port))
        with pytest.raises(RequirementError) as caught:
            _start_services(other, {})
    assert str(port) in caught.value.brief
    assert f"pid {os.getpid()}" in caught.value.details
    assert not other.env_file.exists()
    assert other.services() == []


def test_containers_run_with_few_rights() -> None:
    names = run(["docker", "ps", "--format", "{{.Names}}", "--filter", "name=mesocosm_"])
    for name in names.require().text.splitlines():
        asked = "{{.HostConfig.Privileged}} {{.HostConfig.NetworkMode}}"
        shown = run(["docker", "inspect", "--format", asked, name], cwd=REPOSITORY).require().text
        assert shown.startswith("false ")
        # Phones listen on the host's loopback: only the worker, which has the engine's socket, uses it.
        assert shown.endswith(" host") is name.startswith("mesocosm_worker")
