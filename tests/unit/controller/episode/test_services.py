"""A task's service is leased with its machines, and an evaluator asks it from the host."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from controller.actions.space import Action
from controller.actions.vocabulary import vocabulary
from controller.episode.context import RunContext
from controller.episode.episode import Episode
from evaluators.graph.outcome import Verdict
from evaluators.loading.suite import load_suite
from foundation.settings import get_settings
from provisioning.fleet.local import LocalFleet
from provisioning.machine_folder import iter_folders
from tests.standins.service_kind import EXTENSION, Service, ServiceRecord, ask, end_process

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from controller.episode.result import TrialResult
    from evaluators.loading.suite import Suite

TASK = """\
id: sell
instruction: Sell five.
roles: {pc: desktop, shop: {kind: service, parameters: {seed: 7}}}
graph:
  - {id: sold, on: session, check: number_is, with: {role: shop, number: 12}}
oracle:
  - {do: complete}
"""
EVALUATOR = '''\
"""Evaluators of the service."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from mesocosm import evaluator

if TYPE_CHECKING:
    from mesocosm import CrossView


@evaluator(on="session")
def number_is(session: CrossView, role: str, number: int) -> bool:
    """Return whether a service holds a number.

    Example:
        ``{on: session, check: number_is, with: {role: shop, number: 12}}``

    Args:
        session: reaches the service.
        role: role of the service.
        number: expected number.
    """
    host, port = session.endpoint(role, 7)
    with socket.create_connection((host, port), timeout=10) as connection:
        connection.sendall(b"get\\n")
        return int(connection.makefile().readline()) == number
'''


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Suite]:
    for name, value in (
        ("EXTENSIONS", EXTENSION),
        ("DESKTOP", "memory-desktop"),
        ("STATE_DIR", str(tmp_path / "state")),
    ):
        monkeypatch.setenv(f"MESOCOSM_{name}", value)
    get_settings.cache_clear()
    folder = tmp_path / "suite"
    (folder / "evaluators").mkdir(parents=True)
    (folder / "suite.yaml").write_text(
        'name: shop\nversion: "1"\ndescription: A shop.\ntasks: [sell.yaml]\n'
    )
    (folder / "sell.yaml").write_text(TASK)
    (folder / "evaluators" / "numbers.py").write_text(EVALUATOR)
    yield load_suite(folder, vocabulary())
    for machine in iter_folders(get_settings()):
        end_process(machine)


def play(suite: Suite, sold: int) -> TrialResult:
    context = RunContext(LocalFleet(get_settings()), vocabulary=suite.vocabulary)
    with Episode(context) as episode:
        observation = episode.reset(suite.tasks[0])
        assert set(observation.shots) == {"pc"}
        (shop,) = [
            Service(folder, record)
            for folder in iter_folders(get_settings())
            if isinstance(record := folder.read(), ServiceRecord)
        ]
        ask(shop, f"add {sold}")
        episode.step([Action("complete")])
        return episode.close()


@pytest.mark.slow
def test_an_evaluator_asks_the_service_of_its_trial(suite: Suite) -> None:
    passed, failed = play(suite, 5), play(suite, 4)
    assert (passed.verdict, failed.verdict) == (Verdict.PASS, Verdict.FAIL), passed.detail
    kinds = {machine.role: machine.kind for machine in passed.machines}
    assert kinds == {"pc": "desktop", "shop": "service"}
