from __future__ import annotations

import contextlib
import json
import sqlite3
import threading
from typing import TYPE_CHECKING

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import create_engine, text

from controller.service.schedules.definition import parse_schedule
from controller.service.schedules.register import Register
from controller.service.state.database import Database, migration_config
from controller.service.state.queue import RunQueue
from controller.service.state.queued_run import Requester, State
from controller.service.state.tables import Base
from foundation.errors import StateError
from tests.standins.open_files import open_files

if TYPE_CHECKING:
    from pathlib import Path

    from controller.specification.request import RunRequest
    from foundation.clock import FakeClock


def test_migrations_create_the_expected_tables(database: Database) -> None:
    engine = create_engine(f"sqlite:///{database.path}")
    with engine.connect() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, Base.metadata) == []
    engine.dispose()


def test_recording_rates_of_stored_requests_keep_their_meaning(
    database: Database, queue: RunQueue, request_of_tiny: RunRequest, clock: FakeClock
) -> None:
    request = request_of_tiny.model_copy(update={"recording_hz": 2.5})
    run = queue.add(request, Requester("api")).run
    trigger = {"kind": "cron", "line": "0 2 * * *"}
    schedule = parse_schedule(
        {"name": "nightly", "trigger": trigger, "request": request.model_dump(mode="json")}
    )
    Register(database, clock).add(schedule)
    engine = create_engine(f"sqlite:///{database.path}")
    with engine.connect() as connection, connection.begin():
        command.downgrade(migration_config(connection), "r0001")
        stored = connection.execute(text("SELECT request FROM queue")).scalar_one()
        assert "record_hz" in json.loads(stored)
    engine.dispose()
    database.close()
    with contextlib.closing(Database(database.path)) as reopened:
        assert RunQueue(reopened, clock).get(run).request == request
        assert Register(reopened, clock).get("nightly").schedule == schedule


def test_state_of_a_newer_mesocosm_is_rejected(database: Database) -> None:
    with database.write() as session:
        session.execute(text("DELETE FROM alembic_version"))
        session.execute(text("INSERT INTO alembic_version VALUES ('r9999')"))
    database.close()
    # The error keeps the frames of its traceback, and what they opened, alive.
    with pytest.raises(StateError, match="newer Mesocosm") as caught:
        Database(database.path)
    assert caught.traceback
    assert open_files(database.path) == []


def test_damaged_state_is_reported_and_left_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    path.write_bytes(b"no database at all" * 1000)
    with pytest.raises(StateError) as caught:
        Database(path)
    assert "damaged" in caught.value.brief
    assert str(path) in caught.value.details
    assert path.read_bytes().startswith(b"no database")
    assert open_files(path) == []


def test_failed_change_leaves_nothing_behind(
    queue: RunQueue, database: Database, request_of_tiny: RunRequest
) -> None:
    run = queue.add(request_of_tiny, Requester("api")).run

    def fail_in_between() -> None:
        with database.write() as session:
            session.execute(text("DELETE FROM queue"))
            session.execute(text("DELETE FROM no_such_table"))

    with pytest.raises(StateError, match="cannot be read"):
        fail_in_between()
    assert queue.get(run).state is State.QUEUED
    with pytest.raises(StateError, match="inconsistent"), database.write() as session:
        session.execute(text("UPDATE queue SET number = NULL, run = NULL"))
    assert queue.get(run).state is State.QUEUED


def test_copy_holds_the_content_of_its_time(
    queue: RunQueue,
    database: Database,
    request_of_tiny: RunRequest,
    clock: FakeClock,
    tmp_path: Path,
) -> None:
    first = queue.add(request_of_tiny, Requester("cli")).run
    database.back_up(tmp_path / "copy.sqlite")
    queue.add(request_of_tiny, Requester("cli"))
    copy = Database(tmp_path / "copy.sqlite")
    assert [entry.run for entry in RunQueue(copy, clock).entries()] == [first]
    copy.close()
    assert (tmp_path / "copy.sqlite").stat().st_mode & 0o077 == 0


@pytest.mark.slow
def test_new_state_waits_for_concurrent_openers(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    holder = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    holder.execute("CREATE TABLE other (name)")
    # The journal mode cannot be changed while another connection writes.
    holder.execute("BEGIN IMMEDIATE")
    release = threading.Timer(0.5, holder.execute, ("ROLLBACK",))
    release.start()
    try:
        Database(path).close()
    finally:
        release.join()
        holder.close()


@pytest.mark.slow
def test_many_processes_can_open_a_new_state_and_write(
    tmp_path: Path, request_of_tiny: RunRequest, clock: FakeClock
) -> None:
    path = tmp_path / "new/state.sqlite"
    failures: list[Exception] = []

    def work() -> None:
        try:
            database = Database(path)
            for _ in range(5):
                RunQueue(database, clock).add(request_of_tiny, Requester("api"))
            database.close()
        except Exception as exc:  # noqa: BLE001 - shown by the test
            failures.append(exc)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with sqlite3.connect(path) as connection:
        numbers = connection.execute("SELECT number, change FROM queue ORDER BY number").fetchall()
    connection.close()
    assert numbers == [(number, number) for number in range(1, 21)]
