"""A benchmark that ends early keeps what it measured."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from appliance.bench.ocr import bench_matchers
from appliance.bench.rows import Row, collect
from appliance.cli.bench import kept
from foundation.clock import FakeClock
from foundation.errors import MachineError
from tests.evaluator_cases.file_builders import noise

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from appliance.bench.ocr import Finding

DEADLINE_S = 60
COUNT = "3000"


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_ends_a_benchmark_with_the_rows_so_far(
    number: signal.Signals, tmp_path: Path
) -> None:
    page = tmp_path / "page.md"
    args = ["bench", "graph", "-n", COUNT, "--json", "--page", str(page)]
    screen, terminal = pty.openpty()
    with subprocess.Popen(  # noqa: TID251 - its display needs a terminal
        [sys.executable, "-m", "appliance.cli.main", *args],
        stdout=subprocess.PIPE,
        stderr=terminal,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
    ) as proc:
        os.close(terminal)
        seen = b""
        while b"chain 50" not in seen:  # the display names each finished row
            seen += os.read(screen, 4096)
        proc.send_signal(number)
        while True:  # a terminal without a reader would block its writer
            try:
                if not os.read(screen, 4096):
                    break
            except OSError:  # the other end is closed
                break
        out, _ = proc.communicate(timeout=DEADLINE_S)
        assert proc.returncode == 130
    os.close(screen)
    report = json.loads(out)
    assert report["ended_early"] is True
    assert [row["nodes"] for row in report["rows"]][:2] == [10, 50]
    assert len(report["rows"]) < 15
    assert all(row["n"] >= int(COUNT) for row in report["rows"])
    text = page.read_text()
    assert "**ended early: n is the number of samples taken**" in text
    assert "| chain | 50 | 49 |" in text


def failing(clock: FakeClock) -> Generator[Row]:
    row = Row("rewind", "what it covers")
    yield row
    row.measure(lambda: clock.advance(2.0), clock)
    raise MachineError("The machine does not answer.")


def test_error_is_raised_after_the_measured_rows_are_shown() -> None:
    rows: list[Row] = []
    shown: list[tuple[int, bool]] = []

    def show(*, is_whole: bool) -> None:
        shown.append((sum(len(row.samples_s) for row in rows), is_whole))

    with pytest.raises(MachineError, match="does not answer"), kept(show):
        collect(failing(FakeClock()), rows)
    assert shown == [(1, False)]
    assert rows[0].percentile_s(50) == 2.0


def test_complete_benchmark_is_shown_as_complete() -> None:
    shown: list[bool] = []
    with kept(lambda *, is_whole: shown.append(is_whole)):
        pass
    assert shown == [True]


def test_unfinished_engine_is_reported_without_a_figure() -> None:
    rows: list[Finding] = []
    source = bench_matchers(noise(1, (360, 240), (60, 40)), 1)
    rows.append(next(source))
    source.close()
    assert rows[0].to_dict() == {
        "matcher": "sift",
        "trouble": "The benchmark ended before this was measured.",
    }
