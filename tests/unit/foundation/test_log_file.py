from __future__ import annotations

import json
import logging
import sys
from typing import TYPE_CHECKING

import pytest

from foundation.log_file import (
    FILE,
    KEPT,
    LogFileHandler,
    LogLine,
    LogReader,
    log_paths,
    parse_line,
)
from foundation.logging import configure_logging, log_context, logging_to
from foundation.masking import redact
from foundation.process import kill_group, start
from foundation.shared_lines import append_line, rotate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LOG = logging.getLogger("controller.some_module")


@pytest.fixture(autouse=True)
def _quiet_again() -> Iterator[None]:
    configure_logging()
    yield
    configure_logging()


def read(folder: Path) -> list[LogLine]:
    return list(LogReader(folder).read())


def test_log_line_has_its_context_and_no_secret(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    redact("s3cret-key-of-mine")
    with (
        logging_to(LogFileHandler(tmp_path, "run"), level="info"),
        log_context(run="r1", trial="a.0"),
        log_context(machine="desktop-1", message="no key of ours"),
    ):
        LOG.debug("detail")
        LOG.info("asked with %s", "s3cret-key-of-mine")
        try:
            int("s3cret-key-of-mine")
        except ValueError:
            LOG.exception("failed")
    LOG.warning("after the block")
    text = (tmp_path / FILE).read_text()
    assert "s3cret" not in text
    rows = [json.loads(line) for line in text.splitlines()]
    assert [row["message"] for row in rows] == ["asked with ***", "failed"]
    for row in rows:
        assert (row["run"], row["trial"], row["machine"]) == ("r1", "a.0", "desktop-1")
        assert (row["program"], row["logger"]) == ("run", "controller.some_module")
        assert row["t"].endswith("+00:00")
    assert "error" not in rows[0]
    assert rows[1]["error"].splitlines()[-1].endswith("base 10: '***'")
    # Standard error gets warnings only, as without the file.
    assert "asked with" not in capsys.readouterr().err


def test_records_already_printed_are_written_to_the_file_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with logging_to(LogFileHandler(tmp_path, "run"), level="info"):
        LOG.error("printed", extra={"is_printed": True})
    assert capsys.readouterr().err == ""
    assert [line.message for line in read(tmp_path)] == ["printed"]


def test_lines_are_read_back_and_torn_lines_skipped(tmp_path: Path) -> None:
    line = LogLine(1.5, "info", "a.b", "x\u2028\n", "run", 7, {"run": "r"}, "Traceback")
    assert parse_line(line.to_json().encode()) == line
    for bad in (b"", b"{", b"[]", b'{"t": 1}', b'{"t": "x", "level": 1}', b"\xff"):
        assert parse_line(bad) is None


def test_follower_gets_every_line_once_across_rotations(tmp_path: Path) -> None:
    reader, seen = LogReader(tmp_path), []
    assert list(reader.read()) == []
    with logging_to(LogFileHandler(tmp_path, "run", max_bytes=2000), level="info"):
        for number in range(60):
            LOG.info("%d", number)
            if number % 7 == 0:
                seen += [int(line.message) for line in reader.read()]
    seen += [int(line.message) for line in reader.read()]
    assert seen == list(range(60))
    assert list(reader.read()) == []
    assert len(log_paths(tmp_path)) > 2


def test_rotation_limits_the_log_size(tmp_path: Path) -> None:
    with logging_to(LogFileHandler(tmp_path, "run", max_bytes=2000), level="info"):
        for number in range(300):
            LOG.info("%d", number)
    assert len(log_paths(tmp_path)) == KEPT + (tmp_path / FILE).exists()
    assert all(path.stat().st_size < 2400 for path in log_paths(tmp_path))
    numbers = [int(line.message) for line in read(tmp_path)]
    assert numbers == list(range(numbers[0], 300))


def test_unfinished_line_is_not_read_yet(tmp_path: Path) -> None:
    reader = LogReader(tmp_path)
    whole = LogLine(1.0, "info", "a", "x").to_json().encode()
    with (tmp_path / FILE).open("ab", buffering=0) as file:
        file.write(whole[:20])
        assert list(reader.read()) == []
        file.write(whole[20:] + b"\n")
        assert [line.message for line in reader.read()] == ["x"]


def test_unwritable_log_raises_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with logging_to(LogFileHandler(tmp_path / "file" / "logs", "run"), level="info"):
        LOG.info("lost")


def test_lone_surrogate_is_written_as_its_escape(tmp_path: Path) -> None:
    # Past the loggers: pytest would keep the text, and its workers cannot send it.
    record = logging.LogRecord("x", logging.INFO, __file__, 1, "half a pair \ud800", None, None)
    LogFileHandler(tmp_path, "run").handle(record)
    (path,) = tmp_path.glob("*.jsonl")
    assert "half a pair" in json.loads(path.read_bytes())["message"]


PROGRAM = """
import logging, sys
from pathlib import Path
from foundation.log_file import LogFileHandler
from foundation.logging import logging_to
with logging_to(LogFileHandler(Path(sys.argv[1]), sys.argv[2], max_bytes=20_000), level="info"):
    for number in range(250):
        logging.getLogger("controller").info("%d", number)
"""


def test_only_the_full_file_is_rotated(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    assert append_line(path, b"old\n" * 9) > 20
    assert rotate(path, max_bytes=20, kept=4)
    assert append_line(path, b"new\n") <= 20
    assert not rotate(
        path, max_bytes=20, kept=4
    )  # the process that filled the old file comes second
    assert path.read_bytes() == b"new\n"


def test_concurrent_rotations_lose_no_lines(tmp_path: Path) -> None:
    programs = [
        start([sys.executable, "-c", PROGRAM, str(tmp_path), name]) for name in ("a", "b", "c")
    ]
    try:
        assert [program.communicate()[1] for program in programs] == [b"", b"", b""]
    finally:
        for program in programs:
            kill_group(program)
    numbers_by_program: dict[str, list[int]] = {"a": [], "b": [], "c": []}
    for line in read(tmp_path):
        numbers_by_program[line.program].append(int(line.message))
    assert all(numbers == list(range(250)) for numbers in numbers_by_program.values())
    assert len(log_paths(tmp_path)) > 2
