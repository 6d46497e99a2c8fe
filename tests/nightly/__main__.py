"""Run the nightly jobs with stale results, one after the other, and update their rows in the ledger.

    python -m tests.nightly run [JOB...] [--distribution NAME] [--again | --failed]
    python -m tests.nightly status [--strict]
    python -m tests.nightly release VERSION

If interrupted, the next call continues with the jobs without a current row. Logs are kept in
``.nightly/``. Two concurrent calls would disturb each other's machines: the second is refused, also
from another checkout. ``--failed`` repeats only the failed tests of failed jobs whose sources did not
change; if they pass, the row names them.

Exit codes: 0 all rows current and passed, 1 some are not, 2 refused, 130 interrupted.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime as dt
import re
import signal
import sys
from pathlib import Path

from foundation.clock import SYSTEM_CLOCK
from foundation.errors import MachineBusyError, MesocosmError
from foundation.files import locked
from foundation.process import run, stream
from foundation.settings import get_settings
from tests.nightly.jobs import DEFAULT, DISTRIBUTIONS, Job, select
from tests.nightly.ledger import (
    REPOSITORY,
    Row,
    digest_sources,
    read_rows,
    slots,
    stale_lines,
    write_row,
)
from tests.nightly.release import release
from tests.tiers import SPREAD, TIER

LOGS = REPOSITORY / ".nightly"
_SUMMARY_CHARS = 160
_COLUMNS = "200"
"""Terminal width of jobs, so that each row of a table is one line of the log."""


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.nightly", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    runner = commands.add_parser("run")
    runner.add_argument("jobs", nargs="*")
    runner.add_argument("--distribution", choices=DISTRIBUTIONS)
    which = runner.add_mutually_exclusive_group()
    which.add_argument("--again", action="store_true", help="also run jobs whose row is current")
    which.add_argument(
        "--failed", action="store_true", help="run only the failed tests of failed jobs"
    )
    status = commands.add_parser("status")
    status.add_argument("--strict", action="store_true", help="exit 1 if a row is stale")
    releaser = commands.add_parser("release")
    releaser.add_argument("version")
    options = parser.parse_args(argv)
    if options.command == "release":
        return release(options.version)
    if options.command == "status":
        lines = stale_lines()
        print("\n".join(lines) or "all rows are current")  # noqa: T201 - a command's output
        return 1 if lines and options.strict else 0
    try:
        with locked(get_settings().state_dir / "nightly.lock", what="The nightly"):
            return _run(
                tuple(options.jobs),
                options.distribution,
                again=options.again,
                failed=options.failed,
            )
    except MachineBusyError as exc:
        print(f"error: {exc.brief} {exc.details}\n→ {exc.resolution}", file=sys.stderr)  # noqa: T201
        return 2


def _run(
    names: tuple[str, ...], distribution: str | None, *, again: bool, failed: bool = False
) -> int:
    rows = {(row.job, row.distribution): row for row in read_rows()}
    passed = True
    for job, where in slots(select(names)):
        if distribution and where not in {"", distribution}:
            continue
        row = rows.get((job.name, where))
        is_current = row and row.passed and row.sources == digest_sources(job.sources)
        if is_current and not again:
            continue
        print(f"{job.name} {where}: {job.what} ...", flush=True)  # noqa: T201
        if failed:
            tests = repeatable(row, digest_sources(job.sources))
            if row is None or not tests:
                print(f"{job.name} {where}: no failed tests to repeat.", flush=True)  # noqa: T201
                passed = False
                continue
            row = repeat(job, row, tests)
        else:
            row = run_job(job, where)
        write_row(row)
        print(  # noqa: T201
            f"{job.name} {where}: {'passed' if row.passed else 'FAILED'} in {row.seconds:.0f} s, "
            f"{row.summary}",
            flush=True,
        )
        passed = passed and row.passed
    return 0 if passed else 1


def repeatable(row: Row | None, sources: str) -> list[str]:
    """Return the failed tests of a job if its row failed with the same sources.

    Returns no tests if the job failed for another reason, because not all of its tests were run.
    """
    if row is None or row.passed or row.sources != sources:
        return []
    log = log_of(row.job, row.distribution)
    return failed_tests(log.read_text(encoding="utf-8")) if log.is_file() else []


def failed_tests(log: str) -> list[str]:
    """Return the failed tests of pytest's final summary; none if the run ended early."""
    lines = log.splitlines()
    ends = [n for n, line in enumerate(lines) if re.search(r"=+ \d+ failed.* in [\d.]+s", line)]
    if not ends:
        return []
    heads = [n for n, line in enumerate(lines) if "short test summary info" in line]
    closing = lines[heads[-1] if heads else 0 : ends[-1]]
    if any(line.startswith("ERROR ") for line in closing):
        return []
    return [
        line.removeprefix("FAILED ").partition(" - ")[0]
        for line in closing
        if line.startswith("FAILED ")
    ]


def repeat(job: Job, row: Row, tests: list[str]) -> Row:
    """Run only the failed tests again; if they pass, return a row that names them.

    If one fails again, return the old row, which has more information.
    """
    again = dataclasses.replace(job, pytest=tuple(tests), elsewhere=(), workers=1, is_spread=False)
    repeated = run_job(again, row.distribution, kept=log_of(job.name, f"{row.distribution}-failed"))
    if not repeated.passed:
        return row
    return row.model_copy(
        update={
            "commit": repeated.commit,
            "date": repeated.date,
            "passed": True,
            "summary": f"{row.summary}; then {repeated.summary}"[:_SUMMARY_CHARS],
            "repeated": tests,
        }
    )


def log_of(job: str, distribution: str) -> Path:
    """Return the path of a job's log."""
    return LOGS / f"{job}{'-' if distribution else ''}{distribution}.log"


def run_job(job: Job, distribution: str, *, kept: Path | None = None) -> Row:
    """Run one job until its end or deadline, write its log to a file, and return its row."""
    LOGS.mkdir(exist_ok=True)
    log = kept or log_of(job.name, distribution)
    env = {TIER: "nightly", "COLUMNS": _COLUMNS} | (
        {"MESOCOSM_DISTRIBUTION": distribution} if distribution else {}
    )
    if job.is_spread:
        env[SPREAD] = "1"
    sources, start_s = digest_sources(job.sources), SYSTEM_CLOCK.monotonic_s()
    last = ""
    with log.open("w", encoding="utf-8") as file:

        def keep(line: str) -> None:
            nonlocal last
            file.write(line + "\n")
            file.flush()
            last = line.strip("= ") or last

        try:
            ended = stream(
                command_of(job, distribution),
                on_line=keep,
                timeout_s=job.timeout_s,
                env=env,
                cwd=REPOSITORY,
            )
            passed = ended.exit_code == 0
        except MesocosmError as exc:
            passed, last = False, exc.brief
    return Row(
        job=job.name,
        distribution=distribution,
        sources=sources,
        commit=run(["git", "rev-parse", "HEAD"], cwd=REPOSITORY).require().text,
        date=dt.datetime.now(dt.UTC).strftime("%Y-%m-%d %H:%M"),
        passed=passed,
        summary=summary_of(log.read_text(encoding="utf-8"), job.row) or last[:_SUMMARY_CHARS],
        seconds=round(SYSTEM_CLOCK.monotonic_s() - start_s, 1),
    )


def command_of(job: Job, distribution: str = "") -> list[str]:
    """Return the command line that runs a job on a distribution."""
    here = Path(sys.executable).parent
    if job.pytest:
        elsewhere = () if distribution in {"", DEFAULT} else job.elsewhere
        argv = [str(here / "pytest"), "-v", "--durations=30", *job.pytest, *elsewhere]
        if job.workers > 1:
            argv[2:2] = ["-n", str(job.workers), "--dist", "loadscope", "--no-loadscope-reorder"]
    elif job.command[:1] == ("-m",):
        argv = [sys.executable, *job.command]
    else:
        argv = [str(here / "mesocosm"), *job.command]
    if job.needs_appliance:
        return ["sh", "tests/with_appliance.sh", str(here / "mesocosm"), *argv]
    return argv


def summary_of(log: str, row: str) -> str:
    """Return a job's summary: a row of a table or pytest's final line; empty without either.

    Args:
        log: output of the job.
        row: first cell of the table row to return; empty if the job prints no table.
    """
    summary = ""
    for line in log.splitlines():
        cells = [cell.strip() for cell in re.split(r"[│┃]", line)[1:-1]]
        if row and cells[:1] == [row]:
            summary = ", ".join(cells)
        counts = (" passed" in line or " failed" in line or " error" in line) and " in " in line
        if not row and counts:
            summary = line.strip("= ")
    return summary[:_SUMMARY_CHARS]


if __name__ == "__main__":
    # Non-interactive shells start background processes with interrupts ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
