from __future__ import annotations

import contextlib
import json
import resource
import sqlite3
import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest

from controller.episode.result import (
    TRIAL_RESULT,
    Ending,
    MemberShare,
    Reason,
    TrialResult,
)
from controller.models.usage import Usage
from controller.observation.observer import Screenshot
from controller.observation.pictures import encode_png
from controller.specification.agent import MEMBER, Member, ModelSpec, OracleSpec
from controller.specification.run import CodeSpec, RunSpec, SuiteSpec, TaskSpec
from controller.store import index
from controller.store.event_log import TrialLog, read_events
from controller.store.index import list_runs
from controller.store.runs import Store
from evaluators.graph.outcome import Verdict
from evaluators.rendering.views.any import ViewedDocument, parse_view
from foundation.clock import FakeClock
from foundation.errors import StoreError, UnknownNameError, UsageError
from foundation.files import digest_bytes
from images.renderer.program.framing import VERSION
from provisioning.protocols import Bounds, Element
from tests.unit.controller.jobs import next_job

if TYPE_CHECKING:
    from pathlib import Path

    from controller.store.runs import RunFolder

CLOCK = FakeClock()


def make_run(root: Path, run: str = "20261121-080000-aaaa", repeats: int = 2) -> RunFolder:
    spec = RunSpec(
        run=run,
        started_s=1.0,
        suite=SuiteSpec(name="tiny", version="1", digest="d" * 64),
        agents=(Member(agent=OracleSpec()),),
        tasks=(TaskSpec(id="a"), TaskSpec(id="b")),
        repeats=repeats,
        code=CodeSpec(version="0"),
    )
    return Store(root).create(spec)


def end(
    folder: RunFolder,
    task: str,
    repeat: int,
    verdict: Verdict = Verdict.PASS,
    reason: Reason = Reason.SUCCESS,
) -> TrialResult:
    result = TrialResult(
        task, repeat, verdict, reason, 1, 1, 2, 1.5, {MEMBER: MemberShare(Usage(3, 4))}
    )
    with folder.begin_attempt(next_job(folder, task, repeat), CLOCK) as log:
        log.append("start")
        log.append("end", result=TRIAL_RESULT.dump_python(result, mode="json"))
    return result


def test_written_run_is_read_back(tmp_path: Path) -> None:
    folder = make_run(tmp_path)
    result = end(folder, "a", 0)
    again = Store(tmp_path).open("latest")
    assert again.spec == folder.spec
    assert again.results() == [result]


def test_latest_run_can_be_filtered(tmp_path: Path) -> None:
    store = Store(tmp_path)
    old, other, last = ("20261121-080000-aaaa", "20261121-090000-bbbb", "20261121-100000-cccc")
    spec = make_run(tmp_path, old).spec
    model = ModelSpec(model="org/small", endpoint="http://host/v1")
    store.create(spec.model_copy(update={"run": other, "agents": (Member(agent=model),)}))
    store.create(
        spec.model_copy(
            update={"run": last, "suite": spec.suite.model_copy(update={"name": "big"})}
        )
    )
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged/run.json").write_text("{")
    opened = {
        criteria: store.open(f"latest:{criteria}").spec.run
        for criteria in ("tiny", "big", "oracle", "tiny,oracle", "model", "tiny, model:org/*")
    }
    assert list(opened.values()) == [other, last, last, old, other, other]
    with pytest.raises(UsageError, match="No run matches 'big', 'model'") as caught:
        store.open("latest:big,model")
    assert caught.value.details == "Runs exist of: big,oracle; tiny,model:org/small; tiny,oracle."
    with pytest.raises(UsageError) as caught:
        Store(tmp_path / "empty").open("latest:*,human")
    assert caught.value.details == "There is no run."


def test_trials_are_planned_round_by_round(tmp_path: Path) -> None:
    assert make_run(tmp_path).spec.planned == [("a", 0), ("b", 0), ("a", 1), ("b", 1)]


def test_torn_last_line_is_ignored(tmp_path: Path) -> None:
    folder = make_run(tmp_path)
    with folder.begin_attempt(next_job(folder, "a"), CLOCK) as log:
        log.append("start")
        log.append("step", n=1)
    with log.path.open("ab") as file:
        file.write(b'{"type":"step","n":2,"act')
    assert [event["type"] for event in folder.events("a", 0)] == ["start", "step"]
    assert folder.unfinished()[0] == ("a", 0, 1)


@pytest.mark.parametrize("line", [b"garbage", b"[]", b'{"n":1}', b"\xff"])
def test_damaged_line_in_the_middle_is_reported(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(b'{"type":"start","schema_version":3}\n' + line + b'\n{"type":"end"}\n')
    with pytest.raises(StoreError, match=r"events\.jsonl:2 is damaged"):
        list(read_events(path))


def test_all_attempts_are_kept_and_the_last_one_counts(tmp_path: Path) -> None:
    folder = make_run(tmp_path)
    end(folder, "a", 0, Verdict.INCONCLUSIVE)
    last = end(folder, "a", 0, Verdict.FAIL)
    assert [attempt.number for attempt in folder.attempts("a", 0)] == [1, 2]
    assert folder.results() == [last]
    (first, second) = folder.attempts("a", 0)
    assert (first.result or last).verdict is Verdict.INCONCLUSIVE
    assert [attempt.events[0]["attempt"] for attempt in (first, second)] == [1, 2]
    with folder.begin_attempt(next_job(folder, "a"), CLOCK) as log:
        log.append("start")
    assert folder.results() == []
    assert folder.unfinished()[0] == ("a", 0, 0)


def test_attempts_are_ordered_by_number(tmp_path: Path) -> None:
    folder = make_run(tmp_path)
    for _ in range(11):
        end(folder, "a", 0)
    assert [attempt.number for attempt in folder.attempts("a", 0)] == list(range(1, 12))


def test_attempt_has_one_log(tmp_path: Path) -> None:
    folder = make_run(tmp_path)
    with folder.begin_attempt(next_job(folder, "a"), CLOCK) as log, pytest.raises(StoreError):
        TrialLog(log.path.parent, folder.path / "blobs", CLOCK)


def test_written_files_carry_the_schema_version(tmp_path: Path) -> None:
    folder = make_run(tmp_path)
    end(folder, "a", 0)
    assert json.loads((folder.path / "run.json").read_bytes())["schema_version"] == 3
    first, *others = folder.events("a", 0)
    assert first["schema_version"] == 3
    assert not any("schema_version" in event for event in others)


def test_files_of_a_newer_mesocosm_are_rejected_by_name(tmp_path: Path) -> None:
    folder = make_run(tmp_path)
    end(folder, "a", 0)
    (attempt,) = folder.attempts("a", 0)
    attempt.path.write_text(
        attempt.path.read_text().replace('"schema_version":3', '"schema_version":9')
    )
    with pytest.raises(
        StoreError, match=r"events\.jsonl was written by another version of Mesocosm"
    ):
        folder.events("a", 0)
    spec = json.loads((folder.path / "run.json").read_bytes())
    (folder.path / "run.json").write_text(json.dumps({**spec, "schema_version": 4}))
    with pytest.raises(
        StoreError, match=r"run\.json was written by another version of Mesocosm"
    ) as caught:
        Store(tmp_path).open("latest")
    assert "schema version is 4" in caught.value.details


def test_cancelled_trial_leaves_its_run_unfinished(tmp_path: Path) -> None:
    folder = make_run(tmp_path, repeats=1)
    end(folder, "a", 0)
    end(folder, "b", 0, Verdict.INCONCLUSIVE, Reason.CANCELLED)
    assert not folder.is_complete()
    assert list_runs(Store(tmp_path))[0].state == "unfinished"
    end(folder, "b", 0)
    assert folder.is_complete()


def test_equal_pictures_are_stored_once_under_their_digest(tmp_path: Path) -> None:
    folder = make_run(tmp_path)
    frame = np.zeros((4, 4, 3), dtype=np.uint8)
    png = encode_png(frame)
    shot = Screenshot(frame, png, digest_bytes(png))
    with folder.begin_attempt(next_job(folder, "a"), CLOCK) as log:
        assert log.keep({"desktop": shot, "phone": shot}) == {
            "desktop": shot.digest,
            "phone": shot.digest,
        }
    (picture,) = (folder.path / "blobs").iterdir()
    assert digest_bytes(picture.read_bytes()) == picture.stem == shot.digest


def test_equal_trees_are_stored_once_under_their_digest(tmp_path: Path) -> None:
    folder = make_run(tmp_path)
    tree = [Element("push button", "Save", Bounds(1, 2, 3, 4), frozenset({"focused", "enabled"}))]
    with folder.begin_attempt(next_job(folder, "a"), CLOCK) as log:
        digests = [log.keep_trees({"desktop": tree}), log.keep_trees({"desktop": [*tree, *tree]})]
        assert log.keep_trees({"phone": tree}) == {"phone": digests[0]["desktop"]}
    kept = {path.stem: path for path in (folder.path / "blobs").iterdir()}
    assert set(kept) == {trees["desktop"] for trees in digests}
    text = kept[digests[0]["desktop"]].read_bytes()
    assert digest_bytes(text) == digests[0]["desktop"]
    (row,) = json.loads(text)
    assert (row["bounds"], row["states"]) == ([1, 2, 3, 4], ["enabled", "focused"])


def test_equal_views_are_stored_once_under_their_digest(tmp_path: Path) -> None:
    folder = make_run(tmp_path)
    row = {
        "version": VERSION,
        "kind": "sheets",
        "sheets": [],
        "null_date": "1899-12-30",
        "perturbed": [],
        "shown": [],
    }
    views = [
        ViewedDocument(parse_view(json.dumps({**row, "active_sheet": name}).encode()), (b"page",))
        for name in ("Data", "Data", "Sums")
    ]
    with folder.begin_attempt(next_job(folder, "a"), CLOCK) as log:
        digests = [log.keep_view(viewed) for viewed in views]
    assert digests[0] == digests[1] != digests[2]
    for digest, viewed in zip(digests, views, strict=True):
        text = (folder.path / "blobs" / f"{digest}.json").read_bytes()
        assert parse_view(text) == viewed.view


def test_unknown_run_is_rejected_with_nearest_match(tmp_path: Path) -> None:
    make_run(tmp_path)
    with pytest.raises(UnknownNameError, match="20261121-080000-aaaa"):
        Store(tmp_path).open("20261121-080000-aaab")


def test_latest_of_no_runs_is_unknown(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError):
        Store(tmp_path).open("latest")


def test_only_one_process_works_on_a_run(tmp_path: Path) -> None:
    folder = make_run(tmp_path)
    assert not folder.is_running()
    with folder.working():
        assert folder.is_running()
        with pytest.raises(StoreError), folder.working():
            pass
    assert not folder.is_running()


@pytest.mark.slow
def test_reading_a_run_never_blocks_running_it(tmp_path: Path) -> None:
    folder = make_run(tmp_path)
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            folder.is_running()

    lookers = [threading.Thread(target=look) for _ in range(3)]
    for looker in lookers:
        looker.start()
    try:
        for _ in range(1000):
            with folder.working():
                assert folder.is_running()
    finally:
        stop.set()
        for looker in lookers:
            looker.join()


def test_reading_a_run_leaves_nothing_behind(tmp_path: Path) -> None:
    folder = make_run(tmp_path)
    before = sorted(folder.path.rglob("*"))
    assert not folder.is_running()
    assert sorted(folder.path.rglob("*")) == before


def test_locked_index_is_bypassed_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(index, "_LOCK_TIMEOUT_S", 0.0)
    store = Store(tmp_path)
    make_run(tmp_path, "1")
    before = list_runs(store)
    end(make_run(tmp_path, "2", repeats=1), "a", 0)
    path = tmp_path / "index.sqlite"
    inode = path.stat().st_ino
    other = sqlite3.connect(path, isolation_level=None)
    with contextlib.closing(other):
        other.execute("BEGIN EXCLUSIVE")
        assert [row.run for row in list_runs(store)] == ["1", "2"]
        other.execute("ROLLBACK")
    assert path.stat().st_ino == inode
    assert "cannot use the index" in caplog.text
    assert not list(tmp_path.glob("*.damaged*"))
    assert list_runs(store)[0] == before[0]


def test_damaged_index_is_moved_aside(tmp_path: Path) -> None:
    make_run(tmp_path)
    garbage = b"this is no database, certainly not one of SQLite" * 99
    (tmp_path / "index.sqlite").write_bytes(garbage)
    assert len(list_runs(Store(tmp_path))) == 1
    assert (tmp_path / "index.sqlite.damaged1").read_bytes() == garbage
    assert len(list_runs(Store(tmp_path))) == 1


def test_index_of_another_version_is_recreated(tmp_path: Path) -> None:
    make_run(tmp_path)
    with contextlib.closing(sqlite3.connect(tmp_path / "index.sqlite")) as database:
        database.execute("CREATE TABLE runs (run TEXT PRIMARY KEY, other TEXT)")
        database.commit()
    assert [row.state for row in list_runs(Store(tmp_path))] == ["unfinished"]
    assert not list(tmp_path.glob("*.damaged*"))


def test_index_holds_the_state_of_every_run(tmp_path: Path) -> None:
    done = make_run(tmp_path, "1", repeats=1)
    end(done, "a", 0)
    end(done, "b", 0, Verdict.FAIL)
    killed = make_run(tmp_path, "2")
    end(killed, "a", 0, Verdict.INCONCLUSIVE)
    going = make_run(tmp_path, "3")
    (tmp_path / "4").mkdir()
    (tmp_path / "4/run.json").write_text("{")
    with going.working():
        rows = list_runs(Store(tmp_path))
    assert [(row.run, row.state) for row in rows] == [
        ("1", "finished"),
        ("2", "unfinished"),
        ("3", "running"),
        ("4", "damaged"),
    ]
    assert [(row.passed, row.failed, row.inconclusive) for row in rows[:2]] == [
        (1, 1, 0),
        (0, 0, 1),
    ]


def test_index_follows_a_continuing_run(tmp_path: Path) -> None:
    folder = make_run(tmp_path, repeats=1)
    assert list_runs(Store(tmp_path))[0].state == "unfinished"
    end(folder, "a", 0)
    end(folder, "b", 0)
    assert list_runs(Store(tmp_path))[0].state == "finished"


@pytest.mark.parametrize("damage", [b"this is no database, certainly not one of SQLite" * 99, None])
def test_damaged_or_missing_index_is_rebuilt(tmp_path: Path, damage: bytes | None) -> None:
    folder = make_run(tmp_path, repeats=1)
    end(folder, "a", 0)
    before = list_runs(Store(tmp_path))
    for path in tmp_path.glob("index.sqlite*"):
        path.unlink()
    if damage:
        (tmp_path / "index.sqlite").write_bytes(damage)
    assert list_runs(Store(tmp_path)) == before


def test_line_is_on_disk_before_append_returns(tmp_path: Path) -> None:
    folder = make_run(tmp_path)
    log = folder.begin_attempt(next_job(folder, "a"), CLOCK)
    with log:
        log.append("step", n=1)
        assert json.loads(log.path.read_text())["n"] == 1


def test_line_that_does_not_fit_leaves_no_part_of_itself(tmp_path: Path) -> None:
    folder = make_run(tmp_path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with folder.begin_attempt(next_job(folder, "a"), CLOCK) as log:
        log.append("start")
        resource.setrlimit(resource.RLIMIT_FSIZE, (log.path.stat().st_size + 10, hard))
        try:
            with pytest.raises(StoreError, match=r"events\.jsonl cannot be written"):
                log.append("step", n=1)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        log.append("step", n=2)
    assert [event.get("n") for event in folder.events("a", 0)] == [None, 2]


def test_unwritable_picture_is_a_store_error(tmp_path: Path) -> None:
    folder = make_run(tmp_path)
    (folder.path / "blobs").write_bytes(b"no folder")
    shot = Screenshot(np.zeros((1, 1, 3), np.uint8), b"x", digest_bytes(b"x"))
    with (
        folder.begin_attempt(next_job(folder, "a"), CLOCK) as log,
        pytest.raises(StoreError, match="blobs"),
    ):
        log.keep({"desktop": shot})


def test_attempt_of_a_dead_process_is_concluded_once(tmp_path: Path) -> None:
    folder = make_run(tmp_path)
    job = next_job(folder, "a")
    with folder.begin_attempt(job, CLOCK) as log:
        log.append("start")
    path = folder.attempts("a", 0)[0].path
    path.write_bytes(path.read_bytes() + b'{"type": "st')  # the process died while it wrote
    ending = Ending(Reason.AGENT_ERROR, "It died.")
    result = folder.conclude_attempt(job, ending, CLOCK)
    (attempt,) = folder.attempts("a", 0)
    assert [event["type"] for event in attempt.events] == ["start", "end"]
    assert attempt.result == result
    assert (result.verdict, result.reason, result.detail) == (
        Verdict.FAIL,
        Reason.AGENT_ERROR,
        "It died.",
    )
    with pytest.raises(StoreError, match="has a result already"):
        folder.conclude_attempt(job, ending, CLOCK)
    unbegun = folder.conclude_attempt(
        next_job(folder, "b"), Ending(Reason.ENVIRONMENT_ERROR), CLOCK
    )
    (event,) = folder.events("b", 0)
    assert (event["type"], event["attempt"]) == ("end", 1)
    assert (unbegun.verdict, unbegun.started) == (Verdict.INCONCLUSIVE, False)


def test_attempt_can_be_begun_only_once(tmp_path: Path) -> None:
    folder = make_run(tmp_path)
    job = next_job(folder, "a")
    folder.begin_attempt(job, CLOCK).__exit__(None, None, None)
    with pytest.raises(StoreError, match="cannot be created"):
        folder.begin_attempt(job, CLOCK)
