"""Proofs of tasks: what validations showed, kept by the digest of what was validated.

::

    <proofs>/<task key>/proof.json       what the last complete validation concluded
    <proofs>/<task key>/<attempt>.json   one attempt, which the next validation need not repeat
    <suite>/proof.json                   conclusions that a suite brings along, by task key

A task's key is the digest of everything that decides its score, so that a changed task has no proof.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import ValidationError

from controller.specification.agent import Record
from evaluators.loading.suite import BUILTIN
from foundation.errors import StoreError
from foundation.files import digest_json, write_atomic

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from controller.specification.run import RunSpec, TaskSpec

_log = logging.getLogger(__name__)

SCHEMA_VERSION: Final = 1
PROOF_FILE = "proof.json"
_KEY_CHARS = 32

Level = Literal["quick", "full"]
"""What was tried: solutions and no action; or everything."""
Proven = Literal["full", "quick", "unproven"]


class TaskProof(Record):
    """What the last complete validation of a task showed.

    Attributes:
        schema_version: version of its file.
        task: id of the task.
        level: what was tried.
        faults: what is wrong with the task; empty if it is sound.
        notes: what is no fault, but worth knowing.
        attempts: number of attempts.
        solution_s: time of the first solution, with setup and evaluation.
        images: recipes of the images that it ran on, by key of what the task needs; empty in memory.
        proved_s: when it was concluded, seconds since the epoch.
        code: version of Mesocosm.
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    task: str
    level: Level
    faults: tuple[str, ...]
    notes: tuple[str, ...] = ()
    attempts: int
    solution_s: float = 0.0
    images: dict[str, str]
    proved_s: float
    code: str

    def proves(self, images: Mapping[str, str]) -> bool:
        """Return whether the task is sound on images with these recipes."""
        same = all(images.get(key) == digest for key, digest in self.images.items())
        return not self.faults and same


def task_key(task: TaskSpec, fleet: str) -> str:
    """Return the key of a task on real machines or on those in memory.

    Args:
        task: digests of all parts of the task.
        fleet: ``fake``, or anything else for real machines.
    """
    place = "fake" if fleet == "fake" else "real"
    return digest_json([task.model_dump(mode="json"), place])[:_KEY_CHARS]


class ProofStore:
    """The proofs of this appliance.

    Args:
        root: their folder; created when needed.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def attempts(self, task: str, key: str) -> Any:  # noqa: ANN401 - what was kept
        """Return kept attempts; None if there are none.

        Args:
            task: key of the task.
            key: key of the attempts.
        """
        return _read(self._root / task / f"{key}.json")

    def keep(self, task: str, key: str, attempts: object) -> None:
        """Keep attempts, as JSON.

        Raises:
            StoreError: they cannot be written.
        """
        self._write(task, f"{key}.json", attempts)

    def conclude(self, task: str, proof: TaskProof) -> None:
        """Keep a conclusion, in place of an earlier one.

        Raises:
            StoreError: it cannot be written.
        """
        self._write(task, PROOF_FILE, proof.model_dump(mode="json"))

    def proof(self, task: str) -> TaskProof | None:
        """Return the conclusion about a task; None if there is none, or none that can be read."""
        return _parsed(_read(self._root / task / PROOF_FILE))

    def _write(self, task: str, name: str, data: object) -> None:
        folder = self._root / task
        try:
            folder.mkdir(parents=True, exist_ok=True)
            write_atomic(folder / name, json.dumps(data, indent=1) + "\n")
        except OSError as exc:
            raise StoreError(f"The proof {folder / name} cannot be written.", str(exc)) from exc


def shipped_proofs(path: Path) -> dict[str, TaskProof]:
    """Return the proofs that a suite brings along, by task key; none if there is no such file."""
    rows = _read(path)
    if not isinstance(rows, dict):
        return {}
    read = {key: _parsed(row) for key, row in rows.items()}
    return {key: proof for key, proof in read.items() if proof is not None}


def proven_levels(
    spec: RunSpec, proofs: ProofStore, folders: Iterable[Path] = ()
) -> dict[str, Proven]:
    """Return how each task of a run is proven: here, or in a suite's own file.

    Args:
        spec: the run.
        proofs: the proofs of this appliance.
        folders: folders of suites that may bring proofs; by default, that of the run's suite.
    """
    places = list(folders) or [_folder_of(spec)]
    known = {
        key: row for folder in places for key, row in shipped_proofs(folder / PROOF_FILE).items()
    }
    levels: dict[str, Proven] = {}
    for task in spec.tasks:
        key = task_key(task, spec.fleet)
        rows = [row for row in (proofs.proof(key), known.get(key)) if row is not None]
        valid = {row.level for row in rows if row.proves(spec.images)}
        levels[task.id] = "full" if "full" in valid else "quick" if valid else "unproven"
    return levels


def _folder_of(spec: RunSpec) -> Path:
    return Path(spec.suite.folder) if spec.suite.folder else BUILTIN / spec.suite.name


def _read(path: Path) -> Any:  # noqa: ANN401 - whatever the file has
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as exc:
        _log.warning("ignoring %s: %s", path, exc)
        return None


def _parsed(row: object) -> TaskProof | None:
    if row is None:
        return None
    try:
        return TaskProof.model_validate_json(json.dumps(row), strict=True)
    except ValidationError as exc:
        _log.warning("ignoring a proof: %s", exc)
        return None
