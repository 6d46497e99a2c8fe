"""Report how the tasks of a suite are proven on the present images."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from controller.planning import recipes_of, specify_task
from controller.store.proofs import PROOF_FILE, ProofStore, shipped_proofs, task_key
from controller.store.runs import PROOFS
from evaluators.metrics.suite_statistics import applications_of
from evaluators.model.platforms import platform_of
from evaluators.source_digest import SourceDigester
from foundation.errors import StoreError
from foundation.files import write_atomic

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from controller.store.proofs import Proven, TaskProof
    from evaluators.loading.suite import Suite
    from evaluators.model.task import Task
    from foundation.settings import Settings
    from provisioning.protocols import Json

_MEANING: Mapping[Proven, str] = {
    "full": "passes by each solution, and by nothing else that was tried",
    "quick": "passes by each solution, and no node is met by doing nothing",
    "unproven": "no complete proof on these images",
}


@dataclass(frozen=True, slots=True)
class ProvenTask:
    """A task, and what is known about it.

    Attributes:
        task: the task.
        key: key of its proof.
        level: how it is proven on the present images.
        proof: the conclusion that says so, or the latest one; None if there is none.
    """

    task: Task
    key: str
    level: Proven
    proof: TaskProof | None


@dataclass(frozen=True, slots=True)
class ProofReport:
    """How the tasks of a suite are proven.

    Attributes:
        suite: the suite.
        rows: its tasks.
        images: recipes of the present images.
    """

    suite: Suite
    rows: tuple[ProvenTask, ...]
    images: Mapping[str, str]

    @property
    def counts(self) -> dict[str, int]:
        """Number of tasks by how they are proven."""
        counts = Counter(row.level for row in self.rows)
        return {level: counts[level] for level in _MEANING}

    @property
    def is_complete(self) -> bool:
        """Whether every task is proven."""
        return not self.counts["unproven"]

    @property
    def solution_s(self) -> float:
        """Time of the first solutions of all proven tasks, one after the other."""
        known = [row.proof.solution_s for row in self.rows if row.proof and row.level != "unproven"]
        return sum(known)

    @property
    def headline(self) -> str:
        """Name of the suite, and the counts."""
        counts = ", ".join(f"{count} {level}" for level, count in self.counts.items())
        return f"{self.suite.name} {self.suite.version} ({self.suite.digest[:12]}): {counts}"

    def to_dict(self) -> dict[str, Json]:
        """Return the report as JSON."""
        return {
            "complete": self.is_complete,
            "counts": dict(self.counts),
            "solution_seconds": round(self.solution_s, 1),
            "images": dict(self.images),
            "tasks": [
                {
                    "task": row.task.id,
                    "proof": row.level,
                    "latest": None if row.proof is None else row.proof.model_dump(mode="json"),
                }
                for row in self.rows
            ],
        }

    def page(self) -> str:
        """Return the report as Markdown."""
        minutes = self.solution_s / 60
        lines = [
            f"# Proof of {self.suite.name}",
            "",
            (
                f"Printed by `mesocosm suite proof {self.suite.name} --page FILE`. Suite version "
                f"{self.suite.version}, digest `{self.suite.digest[:12]}`."
            ),
            "",
            "| proof | tasks | meaning |",
            "|---|---|---|",
            *(f"| {level} | {self.counts[level]} | {text} |" for level, text in _MEANING.items()),
            "",
            (
                f"The first solutions of all proven tasks took {minutes:.0f} minutes one after the "
                "other, with setup and evaluation. Images:"
            ),
            "",
            *(f"* {key}: `{digest[:12]}`" for key, digest in sorted(self.images.items())),
            "",
            "| task | platform | nodes | applications | proof | attempts | solution, s | on |",
            "|---|---|---|---|---|---|---|---|",
            *(_line(row) for row in self.rows),
            "",
            *(
                f"* {row.task.id}: {fault}"
                for row in self.rows
                for fault in ((*row.proof.faults, *row.proof.notes) if row.proof else ())
            ),
        ]
        return "\n".join(lines).rstrip() + "\n"

    def save(self) -> Path:
        """Write the proofs of proven tasks to the suite's folder, and return the file's path.

        Raises:
            StoreError: it cannot be written.
        """
        folder = self.suite.vocabulary.folder
        if folder is None:
            raise StoreError(f"The folder of {self.suite.name} is not known.")
        path = folder / PROOF_FILE
        kept = {
            row.key: row.proof.model_dump(mode="json")
            for row in self.rows
            if row.proof is not None and row.level != "unproven"
        }
        try:
            write_atomic(path, json.dumps(kept, indent=1, sort_keys=True) + "\n")
        except OSError as exc:
            raise StoreError(f"{path} cannot be written.", str(exc)) from exc
        return path


def read_proofs(suite: Suite, settings: Settings, fleet: str) -> ProofReport:
    """Return how the tasks of a suite are proven here, or by what the suite brings along.

    Args:
        suite: the suite.
        settings: the location of proofs, and of the images.
        fleet: ``real``, or ``fake`` for machines in memory.
    """
    needs = {spec for task in suite.tasks for spec in task.roles.values()}
    images = recipes_of(settings, needs) if fleet == "real" else {}
    store, digester = ProofStore(settings.runs_dir.parent / PROOFS), SourceDigester()
    folder = suite.vocabulary.folder
    shipped = {} if folder is None else shipped_proofs(folder / PROOF_FILE)
    rows = []
    for task in suite.tasks:
        key = task_key(specify_task(task, suite.vocabulary, digester), fleet)
        known = [proof for proof in (store.proof(key), shipped.get(key)) if proof is not None]
        valid = [proof for proof in known if proof.proves(images)]
        best = next((proof for proof in valid if proof.level == "full"), next(iter(valid), None))
        level: Proven = "unproven" if best is None else best.level
        rows.append(ProvenTask(task, key, level, best or next(iter(known), None)))
    return ProofReport(suite, tuple(rows), images)


def _line(row: ProvenTask) -> str:
    task, proof = row.task, row.proof
    day = (
        ""
        if proof is None
        else dt.datetime.fromtimestamp(proof.proved_s, dt.UTC).date().isoformat()
    )
    cells = (
        task.id,
        platform_of(task.kinds.values()),
        len(task.credit_nodes),
        ", ".join(sorted(applications_of(task))),
        row.level,
        "" if proof is None else proof.attempts,
        "" if proof is None else f"{proof.solution_s:.0f}",
        day,
    )
    return f"| {' | '.join(map(str, cells))} |"
