"""Trials of another host, recorded by the real application over HTTP."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from starlette.testclient import TestClient

from controller.agents.registry import make_driver
from controller.episode.result import Ending, Reason
from controller.executors.local import LocalExecutor
from controller.planning import specify_run
from controller.scheduling.execution import execute_run
from controller.scheduling.scheduler import Scheduler
from controller.service.api.app import make_app
from controller.service.api.server import Server, listen
from controller.service.state.tokens import Role
from controller.specification.agent import OracleSpec
from controller.specification.job import TrialJob
from controller.specification.run import trial_seed
from controller.store.received import AttemptOverError, Part, ReceivedAttempt, request_cancel
from controller.store.recorder import PART_BYTES, Recorder
from controller.store.recording_key import is_recording_key, recording_key
from controller.store.runs import Store
from controller.store.service_sink import ServiceSink, attempt_path
from controller.wiring import open_fleet, open_suite, open_trials
from evaluators.graph.outcome import Verdict
from foundation.clock import SYSTEM_CLOCK, FakeClock
from foundation.errors import MesocosmError, StoreError, UsageError
from foundation.files import write_atomic
from tests.unit.controller.service.context import HOST, TINY

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from controller.service.api.context import ApiContext
    from controller.store.runs import RunFolder

WRITER = "writer-1"
KEY = "the-key-of-the-run"


@pytest.fixture
def run(context: ApiContext) -> RunFolder:
    suite = open_suite(str(TINY))
    spec = specify_run(suite, OracleSpec(), tasks=("answer", "two-apps"), fleet="fake")
    return context.store.create(spec)


@pytest.fixture
def address(context: ApiContext) -> Iterator[str]:
    """Serve the application on a port of this host."""
    listener = listen("127.0.0.1", 0)
    host = f"127.0.0.1:{listener.getsockname()[1]}"
    stop = threading.Event()
    server = threading.Thread(target=Server(make_app(context, {host}), listener), args=(stop,))
    server.start()
    yield f"http://{host}"
    stop.set()
    server.join()


@pytest.fixture
def recorder(address: str, run: RunFolder) -> Iterator[Recorder]:
    with recording_key(run) as key, Recorder(address, run.spec.run, key, patience_s=5) as opened:
        yield opened


@pytest.fixture
def sink(recorder: Recorder) -> ServiceSink:
    return ServiceSink(recorder, WRITER)


def job_of(run: RunFolder, task: str = "answer", attempt: int = 1) -> TrialJob:
    seed = trial_seed(run.spec.seed, task, 0)
    return TrialJob(spec=run.spec.digest, task=task, repeat=0, attempt=attempt, seed=seed)


def test_a_run_recorded_over_http_is_that_of_a_folder(
    run: RunFolder, sink: ServiceSink, context: ApiContext
) -> None:
    assert sink.spec == run.spec
    suite = open_suite(str(TINY))
    trials = open_trials(
        sink.spec,
        suite,
        make_driver(OracleSpec()),
        open_fleet("fake", context.settings),
        context.settings,
    )
    scheduler = Scheduler(sink)
    LocalExecutor(trials).run(scheduler)
    assert [result.verdict for result in scheduler.results] == [Verdict.PASS, Verdict.PASS]
    assert run.results() == scheduler.results
    assert [attempt.result for attempt in sink.attempts("two-apps", 0)] == [scheduler.results[1]]
    again = Store(context.settings.runs_dir / "local").create(run.spec)
    execute_run(again, LocalExecutor(trials))
    for task in ("answer", "two-apps"):
        kinds = [event["type"] for event in run.events(task, 0)]
        assert kinds == [event["type"] for event in again.events(task, 0)]
        assert run.events(task, 0)[0]["schema_version"] == 3
    names = {path.name for path in (run.path / "blobs").iterdir()}
    assert names == {path.name for path in (again.path / "blobs").iterdir()}
    for name in names:
        assert (run.path / "blobs" / name).read_bytes() == (
            again.path / "blobs" / name
        ).read_bytes()


def test_each_step_is_there_before_the_next_one(run: RunFolder, sink: ServiceSink) -> None:
    with sink.begin_attempt(job_of(run), SYSTEM_CLOCK) as log:
        for number in range(3):
            log.append("step", number=number)
            assert [event["number"] for event in run.events("answer", 0)] == [*range(number + 1)]


def test_an_attempt_is_begun_once(run: RunFolder, recorder: Recorder, sink: ServiceSink) -> None:
    job = job_of(run)
    with sink.begin_attempt(job, SYSTEM_CLOCK), pytest.raises(AttemptOverError):
        ServiceSink(recorder, "writer-2").begin_attempt(job, SYSTEM_CLOCK)
    with run.begin_attempt(job_of(run, attempt=2), SYSTEM_CLOCK), pytest.raises(AttemptOverError):
        sink.begin_attempt(job_of(run, attempt=2), SYSTEM_CLOCK)


def test_nothing_follows_a_conclusion(run: RunFolder, sink: ServiceSink) -> None:
    """The controller gives a host up; its process, which is alive, cannot add a second verdict."""
    job = job_of(run)
    with sink.begin_attempt(job, SYSTEM_CLOCK) as log:
        log.append("step", number=0)
        ending = Ending(Reason.ENVIRONMENT_ERROR, "Its host is gone.")
        result = run.conclude_attempt(job, ending, SYSTEM_CLOCK)
        with pytest.raises(AttemptOverError):
            log.append("end", result={})
        with pytest.raises(AttemptOverError):
            ReceivedAttempt(run, "answer", 0, 1, WRITER).beat()
    assert result.steps == 1
    assert [event["type"] for event in run.events("answer", 0)] == ["step", "end"]


def test_an_attempt_that_nobody_began_can_be_concluded(run: RunFolder, sink: ServiceSink) -> None:
    ending = Ending(Reason.ENVIRONMENT_ERROR, "It was never placed.")
    run.conclude_attempt(job_of(run), ending, SYSTEM_CLOCK)
    with pytest.raises(AttemptOverError):
        sink.begin_attempt(job_of(run), SYSTEM_CLOCK)


def test_another_process_concludes_over_http_only_once(run: RunFolder, sink: ServiceSink) -> None:
    ending = Ending(Reason.ENVIRONMENT_ERROR, "Its process died.")
    result = sink.conclude_attempt(job_of(run), ending, SYSTEM_CLOCK)
    assert (result.reason, run.result("answer", 0)) == (Reason.ENVIRONMENT_ERROR, result)
    with pytest.raises(StoreError):
        sink.conclude_attempt(job_of(run), ending, SYSTEM_CLOCK)


def test_a_repeated_request_has_no_further_effect(run: RunFolder) -> None:
    attempt = ReceivedAttempt(run, "answer", 0, 1, WRITER)
    attempt.begin()
    attempt.begin()
    first = '{"type":"a","schema_version":3}'
    attempt.append(0, [first])
    attempt.append(0, [first, '{"type":"end"}'])
    attempt.append(1, ['{"type":"end"}'])
    with pytest.raises(AttemptOverError):
        attempt.append(2, ['{"type":"b"}'])
    with pytest.raises(AttemptOverError):
        attempt.append(0, ['{"type":"other"}'])
    (run.attempt_folder("answer", 0, 1) / "events.jsonl").write_text(f'{first}\n{{"ty')
    with pytest.raises(UsageError):
        attempt.append(2, ['{"type":"b"}'])
    attempt.append(1, ['{"type":"b"}'])
    assert [event["type"] for event in run.events("answer", 0)] == ["a", "b"]


def test_an_attempt_appears_with_its_writer(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A beat while the attempt begins must not take it for one that was concluded."""
    attempt = ReceivedAttempt(run, "answer", 0, 1, WRITER)
    seen: list[str] = []

    def write(path: Path, data: bytes | str) -> None:
        seen.append(attempt.beat())
        write_atomic(path, data)

    monkeypatch.setattr("controller.store.received.write_atomic", write)
    attempt.begin()
    assert seen == ["", ""]
    assert attempt.beat() == ""
    assert [path.name for path in run.attempt_folder("answer", 0, 1).parent.iterdir()] == [
        "attempt-1"
    ]


def test_only_planned_trials_are_recorded(run: RunFolder, sink: ServiceSink) -> None:
    job = job_of(run).model_copy(update={"task": "../elsewhere"})
    with pytest.raises(MesocosmError):
        sink.conclude_attempt(job, Ending(Reason.ENVIRONMENT_ERROR, "x"), SYSTEM_CLOCK)
    with pytest.raises(MesocosmError):
        sink.begin_attempt(job.model_copy(update={"task": "unknown"}), SYSTEM_CLOCK)
    assert not (run.path / "elsewhere.0").exists()


@pytest.mark.parametrize("line", ["", "1", "[]", "{}", '{"type":1}', '{"type":"a"}\n{"type":"b"}'])
def test_only_events_are_accepted(run: RunFolder, line: str) -> None:
    attempt = ReceivedAttempt(run, "answer", 0, 1, WRITER)
    attempt.begin()
    with pytest.raises(UsageError):
        attempt.append(0, [line])


def test_large_pictures_are_sent_in_parts(run: RunFolder, sink: ServiceSink) -> None:
    picture = bytes(range(256)) * (PART_BYTES // 100)
    with sink.begin_attempt(job_of(run), SYSTEM_CLOCK) as log:
        digest = log.keep_picture(picture)
        assert log.keep_picture(picture) == digest
        assert log.folder
        (log.folder / "screen-desktop.mp4").write_bytes(picture)
        (log.folder / "notes.txt").write_bytes(b"no")
    assert (run.path / f"blobs/{digest}.png").read_bytes() == picture
    folder = run.attempt_folder("answer", 0, 1)
    assert (folder / "screen-desktop.mp4").read_bytes() == picture
    assert not (folder / "notes.txt").exists()
    assert not list((run.path / "blobs").glob(".*"))


@pytest.mark.parametrize(
    ("name", "offset", "size"),
    [
        ("../../run.json", 0, 3),
        (f"{'0' * 64}.png", 0, 3),  # another digest
        (f"{'0' * 64}.png", 1, 4),  # a part is missing
        (f"{'0' * 64}.png", 0, 2),
        (f"{'0' * 64}.exe", 0, 3),
    ],
)
def test_wrong_blobs_are_refused(run: RunFolder, name: str, offset: int, size: int) -> None:
    attempt = ReceivedAttempt(run, "answer", 0, 1, WRITER)
    attempt.begin()
    with pytest.raises(UsageError):
        attempt.receive_blob(name, Part(b"abc", offset, size))
    assert not (run.path / "blobs" / name).exists() or name.startswith("..")
    with pytest.raises(UsageError):
        attempt.receive_file("events.jsonl", Part(b"abc", 0, 3))


def test_a_cancelled_attempt_is_told_by_its_beat(run: RunFolder, recorder: Recorder) -> None:
    job = job_of(run)
    path = f"{attempt_path(job)}/beat"
    request_cancel(run, "answer", 0, 1, "Enough.")
    assert recorder.post(path, writer=WRITER) == {"cancel": ""}
    with ServiceSink(recorder, WRITER).begin_attempt(job, SYSTEM_CLOCK):
        assert recorder.post(path, writer=WRITER) == {"cancel": ""}
        request_cancel(run, "answer", 0, 1, "Enough.")
        assert recorder.post(path, writer=WRITER) == {"cancel": "Enough."}
    with pytest.raises(AttemptOverError):
        recorder.post(path, writer="writer-2")


def test_only_the_key_of_the_run_or_an_operator_may_record(
    context: ApiContext, run: RunFolder
) -> None:
    client = TestClient(make_app(context, {HOST}), base_url=f"http://{HOST}")
    path = f"/api/v1/record/{run.spec.run}"

    def status(token: str, url: str = path) -> int:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return client.get(url, headers=headers).status_code

    read, operate = (context.tokens.add(role.value, role) for role in Role)
    with recording_key(run) as key:
        assert (run.path / "recording-key").stat().st_mode & 0o077 == 0
        assert key not in (run.path / "recording-key").read_text()
        assert status(key) == 200
        other = context.store.create(run.spec.model_copy(update={"run": "other"}))
        assert status(key, f"/api/v1/record/{other.spec.run}") == 401
        assert status(key, "/api/v1/record/%2e%2e") == 401
        assert status(key, "/api/v1/queue") == 401
        assert client.get(f"/api/v1/runs/{run.spec.run}").status_code == 401
    assert not is_recording_key(run.path, key)
    assert [status(token) for token in ("", key, "x", read, operate)] == [401, 401, 401, 403, 200]
    assert status(operate, "/api/v1/record/unknown") == 404


def answers(*statuses: int) -> tuple[httpx2.MockTransport, list[str]]:
    left, seen = list(statuses), list[str]()

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(request.url.path)
        status = left.pop(0) if left else 200
        if not status:
            raise httpx2.ConnectError("refused")
        body: Any = {"error": {"code": "usage", "brief": "No."}} if status == 409 else {}
        return httpx2.Response(status, json=body)

    return httpx2.MockTransport(answer), seen


def test_requests_are_repeated_while_the_service_does_not_answer() -> None:
    transport, seen = answers(0, 503, 429, 200)
    clock = FakeClock()
    with Recorder("http://x", "r", KEY, clock=clock, transport=transport) as recorder:
        assert recorder.get("") == {}
    assert len(seen) == 4
    assert clock.monotonic_s() == pytest.approx(FakeClock().monotonic_s() + 0.2 + 0.4 + 0.8)


def test_a_silent_service_ends_the_attempt() -> None:
    transport, seen = answers(*[0] * 100)
    recorder = Recorder("http://x", "r", KEY, clock=FakeClock(), transport=transport)
    with recorder, pytest.raises(StoreError, match="does not answer"):
        recorder.post("/x", {})
    assert 20 < len(seen) < 40


def test_refused_requests_are_not_repeated() -> None:
    transport, seen = answers(409)
    recorder = Recorder("http://x", "r", KEY, clock=FakeClock(), transport=transport)
    with recorder, pytest.raises(MesocosmError, match=r"No\."):
        recorder.post("/x", {})
    assert len(seen) == 1
