"""A desktop and a phone are leased with a service that only the tests know, and reach it by name."""

from __future__ import annotations

import json
import smtplib
import sys
import urllib.request
from typing import TYPE_CHECKING, cast

import pytest

from evaluators.decorators import evaluator
from evaluators.graph.outcome import Call
from evaluators.runners import session_runner
from evaluators.schema import describe
from foundation.process import start
from foundation.settings import Settings, get_settings
from provisioning.fleet.local import LocalFleet
from provisioning.fleet.operations import MachineOperations
from provisioning.fleet.reaching import find_services
from provisioning.phone.adb.server import AdbServer
from provisioning.resource import DESKTOP, PHONE, ResourceSpec
from tests.integration.test_reach import shows
from tests.standins.appliance import NEEDS_APPLIANCE
from tests.standins.container import desktop_container_settings
from tests.standins.office_kind import EXTENSION, MAIL_PORT, OFFICE, WEB_PORT, Office, offices

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluators.session.view import CrossView
    from provisioning.desktop.probed import ProbedDesktop
    from provisioning.lease import Environment
    from provisioning.phone.reference.machine import ReferencePhone

pytestmark = [pytest.mark.docker, pytest.mark.phone, pytest.mark.adb]

ROLES = {
    "pc": ResourceSpec(DESKTOP),
    "phone": ResourceSpec(PHONE),
    "back_office": ResourceSpec(OFFICE, parameters={"seed": 3}),
}
FETCH = "import urllib.request as r; print(r.urlopen('http://back-office/a', timeout=20).read().decode())"
SEND = """
import smtplib
with smtplib.SMTP("back-office", 25, timeout=20) as server:
    server.sendmail("me@test", "you@test", "Subject: hello\\n\\nsent by a machine")
"""
HOLDER = """
import signal
from foundation.settings import get_settings
from provisioning.fleet.local import LocalFleet
from provisioning.resource import ResourceSpec
roles = {"pc": ResourceSpec("desktop"), "back_office": ResourceSpec("office", parameters={"seed": 3})}
lease = LocalFleet(get_settings()).acquire(roles)
pc = lease.environment.machines["pc"]
pc.run(["python3", "-I", "-c", %r], timeout_s=60).require()
print(pc.info.machine_id, flush=True)
signal.pause()
"""


@evaluator(on="session")
def office_has_message(session: CrossView, text: str) -> bool:
    """Return whether the office has received a message with a text.

    Args:
        session: the session.
        text: part of the message.
    """
    host, port = session.endpoint("back_office", WEB_PORT)
    with urllib.request.urlopen(f"http://{host}:{port}/", timeout=10) as reply:
        return any(text in message for message in json.load(reply)["messages"])


class Session:
    """A session without an answer."""

    answer: str | None = None


def is_met(environment: Environment, text: str) -> bool:
    """Let the evaluator judge, as in a trial."""
    tools = {"office_has_message": describe(office_has_message)}
    services = find_services(environment.resources)
    runner = session_runner(Session(), tools, environment.machines, services=services)
    (outcome,) = runner.evaluate([Call("n", "office_has_message", {"text": text})], timeout_s=30)
    assert outcome.met is not None, outcome.reason
    return outcome.met


@pytest.fixture(
    params=[
        "container",
        pytest.param("vm", marks=[pytest.mark.vm, NEEDS_APPLIANCE]),
    ]
)
def settings(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Settings]:
    """The appliance's settings for VMs; those of a separate one for desktop containers."""
    monkeypatch.setenv("MESOCOSM_EXTENSIONS", EXTENSION)
    monkeypatch.setenv("MESOCOSM_DESKTOP", request.param)
    if request.param == "container":
        source, state_dir = desktop_container_settings(), tmp_path_factory.mktemp("state")
        for name, folder in (("images", source.images_dir), ("keys", source.keys_dir)):
            (state_dir / name).symlink_to(folder)
        monkeypatch.setenv("MESOCOSM_STATE_DIR", str(state_dir))
    get_settings.cache_clear()
    found = get_settings()
    yield found
    if request.param == "container":
        LocalFleet(found).remove_all()
        AdbServer(found).stop()
    else:
        for name in offices(found):
            MachineOperations(found).delete(name)
    get_settings.cache_clear()


def fetch(machine: ProbedDesktop) -> str:
    return machine.run(["python3", "-I", "-c", FETCH], timeout_s=60).text


def desktop_of(environment: Environment, role: str = "pc") -> ProbedDesktop:
    return cast("ProbedDesktop", environment.machines[role])


def office_of(environment: Environment) -> Office:
    office = environment.resources["back_office"]
    assert isinstance(office, Office)
    return office


def test_machines_reach_the_service_of_their_lease_and_no_other_lease_does(
    settings: Settings,
) -> None:
    fleet = LocalFleet(settings)
    with fleet.acquire(ROLES) as lease, fleet.acquire({"pc": ResourceSpec(DESKTOP)}) as other:
        environment = lease.environment
        assert '"seed": "3", "host": "back-office", "path": "/a"' in fetch(desktop_of(environment))
        desktop_of(environment).run(["python3", "-I", "-c", SEND], timeout_s=60).require()
        phone = cast("ReferencePhone", environment.machines["phone"])
        assert shows(phone, "http://back-office/b", "sent by a machine")
        assert fetch(desktop_of(other.environment)) == ""
        assert is_met(environment, "sent by a machine") is True
        assert is_met(environment, "another text") is False

        environment = lease.reset()
        assert office_of(environment).page()["messages"] == []
        assert is_met(environment, "sent by a machine") is False
        assert '"messages": []' in fetch(desktop_of(environment))
        phone = cast("ReferencePhone", environment.machines["phone"])
        assert shows(phone, "http://back-office/c", '"messages": []')
        host, port = office_of(environment).endpoints[MAIL_PORT]
        with smtplib.SMTP(host, port, timeout=20) as server:
            server.sendmail("me@test", "you@test", "Subject: hello\n\nsent by the host")
        assert "sent by the host" in fetch(desktop_of(environment))


def test_service_of_a_killed_holder_is_leased_again_as_new(settings: Settings) -> None:
    holder = start([sys.executable, "-c", HOLDER % SEND])
    assert holder.stdout is not None
    machine_id = holder.stdout.readline().decode().strip()
    assert machine_id, holder.stderr and holder.stderr.read().decode()
    holder.kill()
    holder.communicate()
    (name,) = offices(settings)
    with LocalFleet(settings).acquire(ROLES) as lease:
        environment = lease.environment
        assert office_of(environment).info.machine_id == name
        assert offices(settings) == [name]
        assert '"messages": []' in fetch(desktop_of(environment))
