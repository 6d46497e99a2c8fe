"""The log of measures: no line is lost or duplicated if writer or reader fails."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, get_args

import pytest

from foundation.clock import FakeClock
from foundation.measures import LABEL_CHARS, MeasureLog, Name
from foundation.process import start
from monitoring.aggregate import MAX_SERIES, Aggregate, Series, quantile
from monitoring.catalog import CATALOG
from monitoring.measures import MeasureReader

if TYPE_CHECKING:
    from pathlib import Path


def _passes(reader: MeasureReader) -> float:
    return reader.update().sums("verdicts_total", "verdict").get("PASS", 0.0)


def _record_pass(log: MeasureLog, count: int = 1) -> None:
    for _ in range(count):
        assert log.record("verdicts_total", suite="smoke", verdict="PASS")


def test_every_name_is_in_the_catalog_and_vice_versa() -> None:
    assert set(CATALOG) == set(get_args(Name))


def test_names_have_unit_suffixes_and_bounds_ascend() -> None:
    for name, metric in CATALOG.items():
        if metric.buckets is None:
            assert name.endswith("_total")
        else:
            assert name.endswith("_seconds")
            assert list(metric.buckets) == sorted(set(metric.buckets))


def test_line_follows_the_format(tmp_path: Path) -> None:
    log = MeasureLog(tmp_path, clock=FakeClock(12.5))
    log.record("rewind_seconds", 0.9, kind="desktop", path="rewind")
    assert json.loads(log.path.read_text()) == {
        "t": 12.5,
        "m": "rewind_seconds",
        "v": 0.9,
        "l": {"kind": "desktop", "path": "rewind"},
    }


def test_non_finite_values_are_dropped(tmp_path: Path) -> None:
    log = MeasureLog(tmp_path)
    assert not log.record("rewind_seconds", float("nan"))
    assert not log.record("rewind_seconds", float("inf"))
    assert not log.path.exists()


def test_label_is_cut_so_that_a_line_stays_one_write(tmp_path: Path) -> None:
    log = MeasureLog(tmp_path)
    log.record("steps_total", suite="s" * 10_000, agent="a")
    assert json.loads(log.path.read_text())["l"]["suite"] == "s" * LABEL_CHARS


def test_unwritable_folder_fails_no_trial(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert not MeasureLog(tmp_path / "file").record("steps_total")


def test_reader_counts_lines_written_after_its_start(tmp_path: Path) -> None:
    log, reader = MeasureLog(tmp_path), MeasureReader(tmp_path)
    assert _passes(reader) == 0
    _record_pass(log, 2)
    assert _passes(reader) == 2
    _record_pass(log)
    assert _passes(reader) == 3


def test_unfinished_line_is_counted_once_when_it_ends(tmp_path: Path) -> None:
    log, reader = MeasureLog(tmp_path), MeasureReader(tmp_path)
    _record_pass(log)
    line = log.path.read_bytes()
    with log.path.open("ab") as file:
        file.write(line[:20])
        file.flush()
        assert _passes(reader) == 1
        file.write(line[20:])
    assert _passes(reader) == 2
    assert reader.update().damaged == 0


def test_torn_line_does_not_affect_the_next_one(tmp_path: Path) -> None:
    log, reader = MeasureLog(tmp_path), MeasureReader(tmp_path)
    _record_pass(log)
    with log.path.open("ab") as file:
        file.write(log.path.read_bytes()[:25])
    _record_pass(log)
    assert _passes(reader) == 2
    assert reader.update().damaged == 1


@pytest.mark.parametrize(
    "line",
    [
        b"\xff\xfe\x00",
        b"[]",
        b'{"t":1,"m":"verdicts_total","v":"many","l":{}}',
        b'{"t":1,"m":"verdicts_total","v":NaN,"l":{}}',
        b'{"t":1,"m":"verdicts_total","v":-1,"l":{}}',
        b'{"t":1,"m":"verdicts_total","v":1,"l":[]}',
        b'{"t":1,"m":"no_such_measure","v":1,"l":{}}',
        b'{"t":1}',
    ],
)
def test_bad_line_is_counted_and_dropped(tmp_path: Path, line: bytes) -> None:
    (tmp_path / "measures.jsonl").write_bytes(line + b"\n")
    totals = MeasureReader(tmp_path).update()
    assert totals.damaged == 1
    assert totals.sums("verdicts_total", "verdict") == {}


def test_label_sets_are_limited(tmp_path: Path) -> None:
    totals = Aggregate()
    for number in range(MAX_SERIES + 7):
        totals.add("verdicts_total", 1, {"suite": str(number), "verdict": "PASS"})
    assert totals.sums("verdicts_total", "verdict") == {"PASS": MAX_SERIES}
    assert totals.dropped == 7


def test_totals_without_a_new_label_are_kept() -> None:
    old = {
        "damaged": 0,
        "dropped": 0,
        "series": [["tokens_total", [], ["oracle", "prompt"], 7, []]],
    }
    assert list(Aggregate.from_json(old).items("tokens_total")) == [
        (("oracle", "prompt", ""), Series(7.0))
    ]


def test_folding_limits_the_log_and_keeps_every_count(tmp_path: Path) -> None:
    log, reader = MeasureLog(tmp_path), MeasureReader(tmp_path, max_bytes=2000)
    for number in range(1, 201):
        _record_pass(log)
        log.record("rewind_seconds", 0.9, kind="desktop", path="rewind")
        assert _passes(reader) == number
    size = sum(path.stat().st_size for path in tmp_path.glob("measures*.jsonl"))
    assert size < 2500
    ((_, series),) = reader.update().items("rewind_seconds")
    assert series.count == 200
    assert series.total == pytest.approx(180)


def test_new_reader_continues_where_the_old_one_stopped(tmp_path: Path) -> None:
    log = MeasureLog(tmp_path)
    for _ in range(5):
        _record_pass(log, 20)
        _passes(MeasureReader(tmp_path, max_bytes=1500))
    assert (tmp_path / "folded.json").exists()
    assert _passes(MeasureReader(tmp_path)) == 100


def test_reader_killed_after_the_rename_loses_nothing(tmp_path: Path) -> None:
    log = MeasureLog(tmp_path)
    _record_pass(log, 3)
    log.path.rename(tmp_path / "measures.1.jsonl")
    _record_pass(log, 2)
    assert _passes(MeasureReader(tmp_path)) == 5
    assert not (tmp_path / "measures.1.jsonl").exists()
    assert _passes(MeasureReader(tmp_path)) == 5


def test_reader_killed_before_the_deletion_doubles_nothing(tmp_path: Path) -> None:
    log = MeasureLog(tmp_path)
    _record_pass(log, 30)
    folded = log.path.read_bytes()
    assert _passes(MeasureReader(tmp_path, max_bytes=100)) == 30
    (tmp_path / "measures.1.jsonl").write_bytes(folded)
    assert _passes(MeasureReader(tmp_path)) == 30


def test_damaged_state_is_discarded_and_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "folded.json").write_text('{"folded": 3, "totals"')
    _record_pass(MeasureLog(tmp_path))
    assert _passes(MeasureReader(tmp_path)) == 1
    assert "damaged" in caplog.text


def test_log_emptied_by_hand_is_read_from_its_start(tmp_path: Path) -> None:
    log, reader = MeasureLog(tmp_path), MeasureReader(tmp_path)
    _record_pass(log, 3)
    assert _passes(reader) == 3
    os.truncate(log.path, 0)
    _record_pass(log)
    assert _passes(reader) == 4


WRITER = """
import pathlib, sys
from foundation.measures import MeasureLog
folder = pathlib.Path(sys.argv[1])
log, written = MeasureLog(folder), 0
while not (written >= 2000 and (folder / "enough").exists()):
    assert log.record("verdicts_total", suite="smoke", verdict="PASS")
    written += 1
print(written)
"""


@pytest.mark.slow
def test_concurrent_writers_lose_nothing_while_the_reader_folds(tmp_path: Path) -> None:
    reader = MeasureReader(tmp_path, max_bytes=5000)
    writers = [start([sys.executable, "-c", WRITER, str(tmp_path)]) for _ in range(3)]
    while any(writer.poll() is None for writer in writers):
        reader.update()
        if (tmp_path / "folded.json").exists() and _folded(tmp_path) > 3:
            (tmp_path / "enough").touch()
    written = 0
    for writer in writers:
        stdout, stderr = writer.communicate()
        assert writer.returncode == 0, stderr
        written += int(stdout)
    assert _passes(reader) == written >= 6000


def _folded(folder: Path) -> int:
    return int(json.loads((folder / "folded.json").read_text())["folded"])


def test_quantiles_match_prometheus() -> None:
    # The same figures as in monitoring/prometheus/rules_test.yml.
    assert quantile((1.0, 2.0, 3.0), [0, 0, 10, 0], 0.5) == 2.5
    assert quantile((1.0,), [10, 0], 0.5) == 0.5
    assert quantile((1.0, 2.0), [0, 0, 4], 0.5) == 2.0
    assert quantile((1.0,), [0, 0], 0.5) is None
