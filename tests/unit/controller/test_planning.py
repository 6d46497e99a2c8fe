from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from controller.actions.vocabulary import vocabulary
from controller.agents.registry import make_driver
from controller.planning import (
    code_version,
    needs_of,
    recipes_of,
    specify_run,
    specify_task,
    suite_for,
    views_documents,
)
from controller.specification.agent import CustomSpec, OracleSpec
from controller.specification.observation import ObservationSpec
from controller.store.runs import Store
from controller.wiring import open_suite, open_suite_of
from evaluators.source_digest import SourceDigester
from foundation.errors import SettingsError, UnknownNameError, UsageError
from foundation.settings import REPOSITORY, Settings, get_settings
from provisioning.resource import DESKTOP, PHONE, ResourceSpec

RECEIPTS = REPOSITORY / "examples/suites/receipts"

if TYPE_CHECKING:
    from pathlib import Path

    from controller.specification.run import TaskSpec
    from tests.unit.controller.lab import Lab


def test_specification_is_read_back_from_its_run(lab: Lab) -> None:
    spec = specify_run(
        lab.suite, OracleSpec(), tasks=("answer",), repeats=2, retries=1, seed=7,
        observation=ObservationSpec(trees=True), recording_hz=2.5, order="shuffled",
        images={"desktop": "d" * 64}, clock=lab.clock,
    )  # fmt: skip
    assert Store(lab.folder).create(spec).spec == spec
    assert suite_for(spec, lab.suite) == lab.suite
    assert [need.kind for need in needs_of(spec, lab.suite)] == [PHONE]


def test_suite_of_a_run_is_found_in_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESOCOSM_STATE_DIR", str(tmp_path / "state"))
    get_settings.cache_clear()
    folder = tmp_path / "suite"
    shutil.copytree(RECEIPTS, folder)
    suite = open_suite(str(folder))
    spec = specify_run(suite, OracleSpec(), tasks=("tell-largest",))
    assert spec.suite.folder == str(folder)
    monkeypatch.chdir("/")
    assert open_suite_of(spec).digest == suite.digest
    other = folder / "write-total.yaml"
    other.write_text(other.read_text().replace("receipts_total_is", "receipts_total_si"))
    reopened_suite = open_suite_of(spec)
    assert [task.id for task in reopened_suite.tasks] == ["tell-largest"]
    moved = folder.rename(tmp_path / "moved")
    assert open_suite_of(spec, str(moved)).digest == reopened_suite.digest
    with pytest.raises(UnknownNameError) as caught:
        open_suite_of(spec)
    assert caught.value.details == f"It was read from {folder}."
    assert "--suite PATH" in caught.value.resolution
    get_settings.cache_clear()


def test_folder_of_a_suite_changes_no_digest(lab: Lab) -> None:
    spec = specify_run(lab.suite, OracleSpec())
    moved = spec.model_copy(update={"suite": spec.suite.model_copy(update={"folder": "/else"})})
    assert spec.suite.folder
    assert moved.digest == spec.digest
    shipped = specify_run(open_suite("smoke"), OracleSpec())
    assert not shipped.suite.folder


def test_only_the_same_custom_agent_can_resume(lab: Lab) -> None:
    spec = specify_run(lab.suite, CustomSpec(name="mine"))
    with pytest.raises(UsageError, match="'mine' was passed"):
        make_driver(spec.only_agent)


def test_changed_suite_is_not_resumed_and_the_change_is_named(
    lab: Lab, tiny: Path, tmp_path: Path
) -> None:
    spec = specify_run(lab.suite, OracleSpec())
    copy = tmp_path / "suite"
    shutil.copytree(tiny, copy)
    answer = copy / "answer.yaml"
    answer.write_text(answer.read_text().replace("id: answer", "id: reply"))
    written = copy / "write-file.yaml"
    written.write_text(written.read_text().replace("instruction: ", "instruction: Please. "))
    with pytest.raises(UsageError, match="has changed") as caught:
        suite_for(spec, open_suite(str(copy)))
    assert caught.value.details.splitlines() == [
        "write-file: text",
        "answer: no longer in the suite",
    ]


def test_unknown_task_is_rejected(lab: Lab) -> None:
    with pytest.raises(UnknownNameError, match="'answer'"):
        specify_run(lab.suite, OracleSpec(), tasks=("anser",))


def specified(lab: Lab, **changes: object) -> TaskSpec:
    task = lab.suite.task("dark-style")
    dumped = task.model_dump(mode="json", by_alias=True)
    changed = type(task).model_validate({**dumped, **changes})
    return specify_task(changed, vocabulary(), SourceDigester())


def test_another_renderer_changes_only_what_judges_its_views(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = {"check": "sheet_names_equal", "with": {"path": "~/a.ods", "names": ["Data"]}}
    node = {"id": "named", "on": "desktop", **check}
    digests = []
    for digest in ("a" * 64, "b" * 64):
        monkeypatch.setattr("controller.planning._renderer_digest", lambda digest=digest: digest)
        digests.append((specified(lab, graph=[node]), specified(lab)))
    (viewing, plain), (other_viewing, other_plain) = digests
    assert viewing.differences(other_viewing) == ("evaluator desktop.sheet_names_equal",)
    assert plain == other_plain
    known = vocabulary()
    task = lab.suite.task("dark-style")
    assert not views_documents([task], known)
    dumped = task.model_dump(mode="json", by_alias=True)
    assert views_documents([task, type(task).model_validate({**dumped, "graph": [node]})], known)


def test_each_part_of_a_task_has_its_own_digest(lab: Lab) -> None:
    before = specified(lab)
    task = lab.suite.task("dark-style").model_dump(mode="json", by_alias=True)
    graph = [{**task["graph"][0], "id": "other"}, *task["graph"][1:]]
    limits = {**task["limits"], "steps": task["limits"]["steps"] + 1}
    setup = [{"on": "desktop", "do": "open_app", "with": {"name": "Terminal"}}]
    assert before == specified(lab)
    assert before.differences(specified(lab, instruction="Other.")) == ("text",)
    assert before.differences(specified(lab, setup=setup)) == ("setup",)
    assert before.differences(specified(lab, limits=limits)) == ("limits",)
    assert "graph" in before.differences(specified(lab, graph=graph[1:]))
    assert before.differences(specified(lab, oracle=task["oracle"][:1])) == ()
    assert set(before.evaluators) == {"desktop.gsetting_equals", "phone.app_in_front"}


def test_changed_evaluator_is_named(lab: Lab) -> None:
    before = specified(lab)
    other = before.model_copy(update={"evaluators": {"desktop.gsetting_equals": "0"}})
    assert before.differences(other) == (
        "evaluator desktop.gsetting_equals",
        "evaluator phone.app_in_front",
    )


def test_digest_of_a_specification_covers_what_changes_scores(lab: Lab) -> None:
    first, second = (specify_run(lab.suite, OracleSpec()) for _ in "ab")
    assert first.run != second.run
    assert first.digest == second.digest
    assert specify_run(lab.suite, OracleSpec(), seed=1).digest != first.digest
    assert specify_run(lab.suite, OracleSpec(), recording_hz=1.0).digest == first.digest


def test_code_version_names_the_commit() -> None:
    code = code_version()
    assert code.version
    assert len(code.commit) in {0, 40}
    assert str(code).startswith(code.version)


def test_container_gets_its_commit_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MESOCOSM_CODE", f"{'0a' * 20}-modified")
    get_settings.cache_clear()
    code = code_version.__wrapped__()
    assert (code.commit, code.is_modified) == ("0a" * 20, True)
    monkeypatch.setenv("MESOCOSM_CODE", "main")
    with pytest.raises(SettingsError, match="MESOCOSM_CODE"):
        Settings()


def test_recipes_are_known_before_any_build(tmp_path: Path) -> None:
    digests = []
    for name in ("one", "two"):
        settings = Settings(state_dir=tmp_path / name, distribution="debian-12")
        digests.append(recipes_of(settings, [ResourceSpec(DESKTOP), ResourceSpec(PHONE)]))
    assert set(digests[0]) == {"desktop", "phone"}
    assert digests[0] == digests[1], "appliances with different keys have the same recipes"
    remote = Settings(state_dir=tmp_path, desktop="remote")
    assert recipes_of(remote, [ResourceSpec(DESKTOP)]) == {}


def test_suite_evaluators_have_digests_of_their_own_source(tmp_path: Path) -> None:
    copy = tmp_path / "receipts"
    shutil.copytree(RECEIPTS, copy)

    def specified() -> dict[str, TaskSpec]:
        suite = open_suite(str(copy))
        digester = SourceDigester()
        return {task.id: specify_task(task, suite.vocabulary, digester) for task in suite.tasks}

    before = specified()
    shared = copy / "evaluators/amounts.py"
    shared.write_text(shared.read_text() + "\n\nUNUSED = 1\n")
    after = specified()
    users = {name for name in before if before[name].differences(after[name])}
    assert users == {"write-total", "tell-largest"}
    assert all(
        part.startswith("evaluator ")
        for name in users
        for part in before[name].differences(after[name])
    )
    assert specified() == after
