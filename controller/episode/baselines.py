"""What changes by itself: the changes of no-op trials, by task and image."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

from appliance.base.files import digest_json, write_atomic
from provisioning.protocols import StateKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from controller.episode.changes import Change
    from evaluators.model.task import Task

    Key = tuple[str, StateKind, str]

_LOG = logging.getLogger(__name__)


class Baselines:
    """A folder with one file a task and set of images; safe among processes.

    Args:
        folder: made when the first baseline is kept.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find(self, task: Task, images: Mapping[str, str]) -> frozenset[Key] | None:
        """Return role, kind and name of what no-op trials changed; None before the first one."""
        try:
            rows = json.loads(self._path(task, images).read_bytes())
            return frozenset((role, StateKind(kind), name) for role, kind, name in rows)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError) as exc:
            _LOG.warning("the no-op baseline of %s cannot be read: %s", task.id, exc)
            return None

    def keep(self, task: Task, images: Mapping[str, str], changes: Iterable[Change]) -> None:
        """Add what one no-op trial changed to what others did.

        Raises:
            OSError: the folder cannot be written.
        """
        known = set(self.find(task, images) or ())
        known |= {(change.role, change.kind, change.name) for change in changes}
        self._folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(sorted(known), indent=0)
        write_atomic(self._path(task, images), text.encode())

    def _path(self, task: Task, images: Mapping[str, str]) -> Path:
        parts = {"task": task.model_dump(mode="json"), "images": dict(images)}
        return self._folder / f"{task.id}-{digest_json(parts)[:16]}.json"
