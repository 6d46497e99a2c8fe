"""Restore the service's state from a backup."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from typing import TYPE_CHECKING

from alembic.script import ScriptDirectory

from controller.service.state.database import copy_state, migration_config, state_path
from foundation.errors import MachineBusyError, StateError, UsageError
from foundation.files import locked, write_atomic

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from foundation.settings import Settings


def restore(source: Path, settings: Settings) -> Path | None:
    """Restore queue, schedules and tokens from a backup; the service must be stopped.

    Args:
        source: a file that `Database.back_up` wrote.
        settings: settings of the appliance.

    Returns:
        Path of the replaced state's copy; None if there was no state.

    Raises:
        UsageError: the file is not a backup that this version can read.
        MachineBusyError: controller or worker is running.
        StateError: the files cannot be written.
    """
    _require_copy(source)
    path = state_path(settings)
    with _stopped(settings):
        try:
            data = source.read_bytes()  # first: `source` may be the copy set aside last time
            path.parent.mkdir(parents=True, exist_ok=True)
            replaced = _set_aside(path) if path.exists() else None
            for ending in ("-wal", "-shm"):  # a log of the old file would be applied to the new one
                path.with_name(path.name + ending).unlink(missing_ok=True)
            write_atomic(path, data)
            path.chmod(0o600)
        except OSError as exc:
            raise StateError(f"{path} cannot be restored.", details=str(exc)) from exc
    return replaced


def _require_copy(source: Path) -> None:
    """Check that a file is an intact backup of a known revision.

    Raises:
        UsageError: it is not.
    """
    try:
        address = f"{source.resolve(strict=True).as_uri()}?mode=ro&immutable=1"
        with contextlib.closing(sqlite3.connect(address, uri=True)) as copy:
            (health,) = copy.execute("PRAGMA quick_check(1)").fetchone()
            (revision,) = copy.execute("SELECT version_num FROM alembic_version").fetchone()
    except (sqlite3.Error, OSError, TypeError) as exc:
        raise UsageError(
            f"{source} is not a backup of the service's state.", details=str(exc)
        ) from exc
    if health != "ok":
        raise UsageError(f"{source} is damaged.", details=health)
    scripts = ScriptDirectory.from_config(migration_config()).walk_revisions()
    if revision not in {script.revision for script in scripts}:
        raise UsageError(
            f"{source} was written by a newer Mesocosm.",
            details=f"The revision of its tables is {revision}.",
            resolution="Restore it with that version of Mesocosm.",
        )


@contextlib.contextmanager
def _stopped(settings: Settings) -> Iterator[None]:
    """Prevent the service from starting during the block.

    Raises:
        MachineBusyError: a part of it is running.
    """
    names = ("scheduler", "worker", "worker-process")
    paths = [settings.metrics_dir / "controller.lock"]
    paths += [settings.run_dir / f"{name}.lock" for name in names]
    with contextlib.ExitStack() as held:
        try:
            for path in paths:
                held.enter_context(locked(path, what="The service"))
        except MachineBusyError as exc:
            raise MachineBusyError(
                "The service is running.",
                exc.details,
                "Stop it with `mesocosm down`, or with Ctrl-C in the terminal of `mesocosm service run`.",
            ) from exc
        yield


def _set_aside(path: Path) -> Path:
    """Back up the current state in the same folder; copy the raw file if it is damaged."""
    target = path.with_name(f"{path.name}.replaced")
    target.unlink(missing_ok=True)
    try:
        copy_state(path, target)
    except StateError:
        shutil.copyfile(path, target)
    return target
