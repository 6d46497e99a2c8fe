"""Which executor a request means, and what runs on other hosts need."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from controller.agents.registry import make_driver
from controller.executor_choice import ExecutorChoice, executor_name, make_executor
from controller.executors.cluster.records import ClusterFiles, HeadRecord
from controller.executors.local import LocalExecutor
from controller.executors.process import ProcessExecutor
from controller.executors.ray import RayExecutor
from controller.planning import specify_run
from controller.specification.agent import OracleSpec
from controller.specification.model_choice import ModelChoice
from controller.store.runs import Store
from controller.wiring import open_fleet, open_suite, open_trials
from foundation.errors import RequirementError, UsageError
from foundation.settings import Settings
from tests.unit.controller.executors.shop import Shop

if TYPE_CHECKING:
    from pathlib import Path

    from controller.executor_choice import ExecutorName
    from controller.scheduling.executor import Executor
    from controller.store.runs import RunFolder


@pytest.mark.parametrize(
    ("wanted", "isolate", "setting", "name"),
    [
        ("", False, "local", "local"),
        ("", True, "local", "process"),
        ("", False, "ray", "ray"),
        ("", True, "ray", "process"),
        ("", False, "process", "process"),
        ("local", False, "ray", "local"),
        ("local", True, "ray", "process"),
        ("process", False, "ray", "process"),
        ("ray", False, "local", "ray"),
        ("ray", True, "local", "ray"),
    ],
)
def test_a_request_overrides_the_setting(
    wanted: str, isolate: bool, setting: ExecutorName, name: str
) -> None:
    assert executor_name(wanted, Settings(executor=setting), isolate=isolate) == name


def begin(tiny: Path, folder: Path, keep: str = "none") -> RunFolder:
    spec = specify_run(open_suite(str(tiny)), OracleSpec(), tasks=("answer",), fleet="fake")
    return Store(folder / "runs").create(spec.model_copy(update={"keep_end_state": keep}))


def executor(name: ExecutorName, run: RunFolder, tiny: Path, settings: Settings) -> Executor:
    spec = run.spec.model_copy(update={"keep_end_state": "none"})
    fleet = open_fleet("fake", settings)
    trials = open_trials(spec, open_suite(str(tiny)), make_driver(OracleSpec()), fleet, settings)
    return make_executor(ExecutorChoice(name, "fake", 1, "", ModelChoice()), trials, run, settings)


def test_each_name_has_its_executor(tiny: Path, tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path)
    run = begin(tiny, tmp_path)
    assert isinstance(executor("local", run, tiny, settings), LocalExecutor)
    assert isinstance(executor("process", run, tiny, settings), ProcessExecutor)
    with pytest.raises(RequirementError, match="not the head of a cluster"):
        executor("ray", run, tiny, settings)


@pytest.mark.slow
def test_the_service_must_answer(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("controller.executor_choice._ANSWER_S", 0.1)
    shop = Shop("ray", tiny, tmp_path / "state")
    try:
        run = shop.begin(OracleSpec(), "answer")
        files = ClusterFiles(shop.settings)
        head = HeadRecord(address="127.0.0.1", first_port=21000, service_url="http://127.0.0.1:1")
        files.write("head", head)
        with pytest.raises(RequirementError, match="does not record"):
            executor("ray", run, tiny, shop.settings)
        files.write("head", head.model_copy(update={"service_url": shop.address()}))
        assert isinstance(executor("ray", run, tiny, shop.settings), RayExecutor)
    finally:
        shop.close()


def test_what_other_hosts_cannot_do_is_refused(tiny: Path, tmp_path: Path) -> None:
    run = begin(tiny, tmp_path, keep="all")
    with pytest.raises(UsageError, match="End states cannot be kept"):
        executor("ray", run, tiny, Settings(state_dir=tmp_path))
