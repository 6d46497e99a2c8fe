"""Programs that end with the process that started them."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from foundation.clock import wait_until
from foundation.errors import ToolMissingError
from foundation.process import bound_to_thread, kill_bound_programs, kill_group, run, start

CALLER = """
import sys
from foundation.process import bound_to_thread, stream
# A tool as builds run it: with children, one of them in a separate session.
tool = "setsid sleep 1000 & sh -c 'sleep 1000; true' & echo ready; sleep 1000"
with bound_to_thread():
    stream(["sh", "-c", tool], on_line=lambda line: print(line, flush=True), timeout_s=900)
"""
MARK = "MESOCOSM_TEST_ENDING"


def marked(mark: str) -> set[int]:
    """Return the processes that have the mark in their environment."""
    pids = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                pids.add(int(folder.name))
        except OSError:
            continue
    return pids


@pytest.mark.skipif(os.geteuid() != 0, reason="process namespaces need root, as builds do")
def test_killed_caller_leaves_no_tool_running(tmp_path: Path) -> None:
    mark = str(tmp_path)
    with start([sys.executable, "-c", CALLER], env={MARK: mark}) as caller:
        assert caller.stdout is not None
        assert caller.stdout.readline() == b"ready\n"
        running = marked(mark)
        assert len(running) > 4
        os.kill(caller.pid, signal.SIGKILL)
        caller.wait()
        try:
            assert wait_until(lambda: not marked(mark), timeout_s=20)
        finally:
            for pid in marked(mark):
                os.kill(pid, signal.SIGKILL)


def test_output_and_exit_code_are_the_same_when_bound() -> None:
    argv = ["sh", "-c", 'cat; echo "$0 $X" >&2; exit 7', "word"]
    with bound_to_thread():
        inside = run(argv, stdin=b"in", env={"X": "y"})
    assert inside == run(argv, stdin=b"in", env={"X": "y"})
    assert (inside.exit_code, inside.stdout, inside.stderr) == (7, b"in", b"word y\n")


def test_only_bound_programs_are_killed() -> None:
    with start(["sleep", "60"]) as other, bound_to_thread(), start(["sleep", "60"]) as bound:
        try:
            kill_bound_programs()
            bound.communicate(timeout=10)
            assert bound.returncode != 0
            assert other.poll() is None
        finally:
            kill_group(other)
            kill_group(bound)


@pytest.mark.parametrize("name", ["no-such-tool-here", "/no/such/tool"])
def test_missing_tool_is_reported_when_bound_too(name: str) -> None:
    with bound_to_thread(), pytest.raises(ToolMissingError, match=name):
        run([name])
