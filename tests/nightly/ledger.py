"""Results of nightly jobs, with digests of their sources: one committed row per job and distribution."""

from __future__ import annotations

import contextlib
import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, TypeAdapter

from evaluators.source_digest import strip_source
from foundation.files import write_atomic
from foundation.process import run
from tests.nightly.jobs import JOBS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.nightly.jobs import Job

REPOSITORY = Path(__file__).resolve().parents[2]
LEDGER = Path(__file__).with_name("ledger.json")


class Row(BaseModel):
    """The last result of one job.

    Attributes:
        job: name of the job.
        distribution: distribution of the desktop; empty if the job needs no desktop.
        sources: digest of the files that the job exercised.
        commit: commit that was checked out.
        date: day and time of its end, UTC.
        passed: whether it passed.
        summary: summary of its output, such as ``112 passed, 1 skipped``.
        seconds: duration.
        repeated: tests that failed and passed when they were repeated.
    """

    model_config = ConfigDict(frozen=True)

    job: str
    distribution: str
    sources: str
    commit: str
    date: str
    passed: bool
    summary: str
    seconds: float
    repeated: list[str] = []


_ROWS = TypeAdapter(list[Row])


def read_rows(path: Path = LEDGER) -> list[Row]:
    """Return all rows; none if there is no ledger."""
    return _ROWS.validate_json(path.read_bytes()) if path.is_file() else []


def write_row(row: Row, path: Path = LEDGER) -> None:
    """Replace the row of the same job and distribution."""
    key = (row.job, row.distribution)
    rows = [other for other in read_rows(path) if (other.job, other.distribution) != key]
    rows = sorted([*rows, row], key=lambda known: (known.job, known.distribution))
    write_atomic(path, _ROWS.dump_json(rows, indent=2, exclude_defaults=True).decode() + "\n")


def digest_sources(names: Sequence[str], root: Path = REPOSITORY) -> str:
    """Return a digest of the files of the repository below some paths.

    Markdown files, and comments and docstrings of Python files, are excluded.

    Args:
        names: files and folders of the repository.
        root: root of the repository.
    """
    argv = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *names]
    listed = run(argv, cwd=root).require().stdout.decode().split("\0")
    digest = hashlib.sha256()
    for name in sorted({*listed} - {""}):
        path = root / name
        if path.is_file() and path.suffix != ".md" and path != LEDGER:
            digest.update(f"{name}\0".encode() + _digest_content(path.suffix, path.read_bytes()))
    return digest.hexdigest()[:16]


@cache
def _digest_content(suffix: str, content: bytes) -> bytes:
    """Return the digest of a file without the comments and docstrings of Python."""
    if suffix == ".py":
        with contextlib.suppress(SyntaxError, UnicodeDecodeError):  # invalid test data
            content = strip_source(content.decode()).encode()
    return hashlib.sha256(content).digest()


def slots(jobs: Sequence[Job] = JOBS) -> list[tuple[Job, str]]:
    """Return every job with each of its distributions."""
    return [(job, name) for job in jobs for name in job.distributions or ("",)]


def stale_lines(path: Path = LEDGER) -> list[str]:
    """Return one line per job and state of its rows: missing, failed or with other sources."""
    rows = {(row.job, row.distribution): row for row in read_rows(path)}
    lines: dict[str, list[str]] = {}
    for job in JOBS:
        digest = digest_sources(job.sources)
        for _, distribution in slots((job,)):
            if state := _state(rows.get((job.name, distribution)), digest):
                lines.setdefault(f"nightly {job.name}: {state}", []).append(distribution)
    return [" ".join([line, *filter(None, names)]) for line, names in lines.items()]


def _state(row: Row | None, digest: str) -> str:
    """Return why a row is not a valid result for these sources; empty if it is."""
    if row is None:
        return "never run"
    if not row.passed:
        return f"failed on {row.date} ({row.summary})"
    if row.sources != digest:
        return f"stale, its sources changed since {row.commit[:12]}"
    return ""
