"""The service's database: SQLite in WAL mode, migrated by Alembic after a backup."""

from __future__ import annotations

import contextlib
import logging
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, event
from sqlalchemy.exc import DatabaseError, IntegrityError, OperationalError
from sqlalchemy.orm import Session

from foundation.clock import SYSTEM_CLOCK
from foundation.errors import StateError
from foundation.files import FileLock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Engine
    from sqlalchemy.engine.interfaces import DBAPIConnection, DBAPICursor

    from foundation.settings import Settings

_log = logging.getLogger(__name__)

_MIGRATIONS = Path(__file__).parent / "migrations"
_LOCK_TIMEOUT_S = 30.0
_LOOK_S = 0.02
_WRITES = "mesocosm_writes"
_ERRORS: dict[type[DatabaseError], str] = {
    IntegrityError: "The service's database is inconsistent.",
    OperationalError: "The service's database cannot be read or written.",
}
"""Messages for SQLAlchemy's errors."""


class Database:
    """The state of the service in one file; safe to use from several threads and processes.

    Args:
        path: path of the file; created, with its folder, and migrated when needed.

    Raises:
        StateError: it cannot be opened, is damaged, or was written by a newer Mesocosm.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with _mapped_errors(path):
            try:
                path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            except PermissionError:
                raise  # reported by the command line, with a resolution
            except OSError as exc:
                raise StateError(f"{path.parent} cannot be created.", details=str(exc)) from exc
            self._engine = _make_engine(path)
            try:
                _migrate(self._engine, path)
            except BaseException:
                self._engine.dispose()
                raise
        self._writing = self._engine.execution_options(**{_WRITES: True})

    @contextlib.contextmanager
    def read(self) -> Iterator[Session]:
        """Open a read transaction; the block sees one consistent state.

        Raises:
            StateError: the database cannot be read.
        """
        with _mapped_errors(self.path), Session(self._engine) as session, session.begin():
            yield session

    @contextlib.contextmanager
    def write(self) -> Iterator[Session]:
        """Open a write transaction, committed at the end of the block or rolled back.

        It blocks all other writers: keep the block short.

        Raises:
            StateError: the database cannot be written.
        """
        with _mapped_errors(self.path), Session(self._writing) as session, session.begin():
            yield session

    def back_up(self, target: Path) -> None:
        """Copy the current state; others may continue to write.

        Raises:
            StateError: the copy cannot be made.
        """
        copy_state(self.path, target)

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()


def state_path(settings: Settings) -> Path:
    """Return the path of the service's database."""
    return settings.service_dir / "state.sqlite"


def _make_engine(path: Path) -> Engine:
    engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": _LOCK_TIMEOUT_S})
    event.listen(engine, "connect", _configure)
    event.listen(engine, "begin", _begin)
    return engine


def _configure(connection: DBAPIConnection, _record: object) -> None:
    # Transactions are begun by `_begin`, not by the driver.
    connection.isolation_level = None
    cursor = connection.cursor()
    _enable_wal(cursor)
    for pragma in ("synchronous=FULL", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _enable_wal(cursor: DBAPICursor) -> None:
    """Enable WAL mode, retrying while another process does so or closes the file.

    SQLite itself does not wait for that.
    """
    deadline_s = SYSTEM_CLOCK.monotonic_s() + _LOCK_TIMEOUT_S
    while True:
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as exc:
            if "locked" not in str(exc) or SYSTEM_CLOCK.monotonic_s() > deadline_s:
                raise
            SYSTEM_CLOCK.sleep(_LOOK_S)
        else:
            return


def _begin(connection: Connection) -> None:
    # A writer takes the lock immediately: after a read, it could not take it if another has written.
    # Source: https://www.sqlite.org/lang_transaction.html
    writes = connection.get_execution_options().get(_WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


@contextlib.contextmanager
def _mapped_errors(path: Path) -> Iterator[None]:
    """Map SQLAlchemy's errors to `StateError`."""
    try:
        yield
    except DatabaseError as exc:
        brief = _ERRORS.get(type(exc), "The service's database is damaged.")
        raise StateError(
            brief,
            details=f"{path}: {exc.orig or exc}",
            resolution="Check whether the disk is full; backups from before updates are in the same folder.",
        ) from exc


def migration_config(connection: Connection | None = None) -> Config:
    """Return Alembic's configuration for migrating the state.

    Args:
        connection: connection to the database to migrate.
    """
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config


def _migrate(engine: Engine, path: Path) -> None:
    """Migrate the tables to the latest revision if needed; one process at a time."""
    scripts = ScriptDirectory.from_config(migration_config())
    if _revision(engine) == scripts.get_current_head():
        return
    lock = FileLock(path.with_name(f"{path.name}.migration.lock"))
    lock.acquire()
    try:
        before = _revision(engine)
        known = {script.revision for script in scripts.walk_revisions()}
        if before is not None and before not in known:
            raise StateError(
                f"{path} was written by a newer Mesocosm.",
                details=f"The revision of its tables is {before}.",
                resolution="Use that version of Mesocosm, or move the file away to start over.",
            )
        if before is not None:
            copy_state(path, path.with_name(f"{path.name}.before-{scripts.get_current_head()}"))
        with engine.connect() as connection, connection.begin():
            command.upgrade(migration_config(connection), "head")
        _log.info("migrated the service's database to revision %s", scripts.get_current_head())
    finally:
        lock.release()


def _revision(engine: Engine) -> str | None:
    with engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def copy_state(path: Path, target: Path) -> None:
    """Copy the current state; others may continue to write.

    Raises:
        StateError: the copy cannot be made.
    """
    try:
        with (
            contextlib.closing(sqlite3.connect(path)) as source,
            contextlib.closing(sqlite3.connect(target)) as copy,
        ):
            source.backup(copy)
        target.chmod(0o600)
    except (sqlite3.Error, OSError) as exc:
        raise StateError(f"{path} cannot be copied to {target}.", details=str(exc)) from exc
