"""Changes that occur without an agent: those of no-op trials, by task and image."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict

from foundation.files import digest_json, write_atomic
from provisioning.protocols import StateKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from controller.episode.changes import Change
    from evaluators.model.task import Task

Key = tuple[str, StateKind, str]

_LOG = logging.getLogger(__name__)


class _Baseline(BaseModel):
    """The file of one task and set of images.

    Attributes:
        schema_version: version of this file's schema; another one is not read.
        changes: role, kind and name of each change.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal[1] = 1
    changes: frozenset[Key]


class Baselines:
    """A folder with one file per task and set of images; safe for concurrent processes.

    Args:
        folder: the folder; it is created when the first baseline is stored.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find(self, task: Task, images: Mapping[str, str]) -> frozenset[Key] | None:
        """Return role, kind and name of the changes of no-op trials; None before the first trial."""
        try:
            return _Baseline.model_validate_json(self._path(task, images).read_bytes()).changes
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as exc:
            _LOG.warning("cannot read the no-op baseline of %s: %s", task.id, exc)
            return None

    def keep(self, task: Task, images: Mapping[str, str], changes: Iterable[Change]) -> None:
        """Add the changes of a no-op trial to those of earlier ones.

        Raises:
            OSError: the folder cannot be written.
        """
        known = set(self.find(task, images) or ())
        known |= {(change.role, change.kind, change.name) for change in changes}
        self._folder.mkdir(parents=True, exist_ok=True)
        kept = _Baseline(changes=frozenset(known))
        write_atomic(self._path(task, images), kept.model_dump_json().encode())

    def _path(self, task: Task, images: Mapping[str, str]) -> Path:
        parts = {"task": task.model_dump(mode="json"), "images": dict(images)}
        return self._folder / f"{task.id}-{digest_json(parts)[:16]}.json"
