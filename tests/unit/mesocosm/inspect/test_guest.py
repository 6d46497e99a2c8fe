"""Commands and files of a sandbox, with this host in the place of the machine."""

from __future__ import annotations

import ast
import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from foundation.errors import ToolTimeoutError
from foundation.process import run
from mesocosm.client.models import Command
from mesocosm.inspect import guest as guest_module
from mesocosm.inspect.guest import Guest, Ran

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mesocosm.client.aio import AsyncEnv

MIB = 1 << 20

pytestmark = pytest.mark.slow


class Host:
    """The part of an episode that runs commands."""

    def __init__(self) -> None:
        self.requests = 0

    async def run(
        self,
        on: str,
        argv: Sequence[str],
        *,
        user: str | None,
        input: bytes,  # noqa: A002 - as the client calls it
        timeout_s: float,
    ) -> Command:
        self.requests += 1
        try:
            ended = await asyncio.to_thread(run, argv, stdin=input, timeout_s=timeout_s)
        except ToolTimeoutError:
            return Command(fault="timeout")
        return Command.model_construct(
            exit_code=ended.exit_code,
            stdout=ended.stdout[:MIB],
            stderr=ended.stderr[:MIB],
            fault="",
        )


@pytest.fixture
def host() -> Host:
    return Host()


@pytest.fixture
def guest(host: Host) -> Guest:
    return Guest(cast("AsyncEnv", host), "desktop")


def execute(guest: Guest, *argv: str, **options: Any) -> Ran:  # noqa: ANN401 - passed on
    chosen: dict[str, Any] = {"cwd": "/", "env": {}, "user": None, "input": None}
    chosen |= {"timeout_s": 20.0, "limit_bytes": 10 * MIB, **options}
    return asyncio.run(guest.execute(argv, **chosen))


def test_program_is_python_3_9() -> None:
    ast.parse(guest_module._PROGRAM, feature_version=(3, 9))


def test_command_has_its_environment_and_results(guest: Guest, tmp_path: Path) -> None:
    script = 'cat; pwd; echo "$A" >&2; exit 7'
    ran = execute(guest, "sh", "-c", script, cwd=str(tmp_path), env={"A": "b c"}, input=b"in\n")
    assert ran == Ran(7, f"in\n{tmp_path}\n".encode(), b"b c\n")
    assert execute(guest, "sh", "-c", "kill -TERM $$").code == 143
    missing = execute(guest, "no-such-program")
    assert (missing.code, b"no-such-program" in missing.err) == (127, True)
    with pytest.raises(PermissionError):
        execute(guest, "/etc/passwd")


def test_large_inputs_arguments_and_outputs_pass(guest: Guest) -> None:
    text = b"x" * (3 * MIB)
    assert execute(guest, "cat", input=text).out == text
    arguments = ["y" * 65536] * 16
    assert execute(guest, "printf", "%s", *arguments).out == b"y" * MIB
    cut = execute(guest, "head", "-c", str(MIB), "/dev/zero", limit_bytes=1000)
    assert (len(cut.out), cut.is_cut) == (1000, True)


def test_late_command_dies_with_its_descendants(guest: Guest, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    script = f"setsid sh -c 'echo $$ >> {pids}; sleep 100' & echo $$ >> {pids}; sleep 100"
    with pytest.raises(TimeoutError):
        execute(guest, "sh", "-c", script, timeout_s=2.0)
    numbers = pids.read_text().split()
    assert len(numbers) == 2
    alive = [number for number in numbers if _is_running(number)]
    assert alive == []


def _is_running(pid: str) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def test_background_program_does_not_delay_its_command(guest: Guest) -> None:
    ran = execute(guest, "sh", "-c", "sleep 3 & echo started", timeout_s=2.5)
    assert ran.out == b"started\n"


def test_files_of_any_size_are_written_and_read(guest: Guest, tmp_path: Path, host: Host) -> None:
    path, data = str(tmp_path / "new/folder/file"), os.urandom(2 * MIB + 17)

    async def check() -> None:
        await guest.write(path, data)
        assert await guest.read(path) == data
        assert await guest.read(path, len(data)) == data
        assert await guest.read(path, len(data) - 1) is None
        await guest.write(path, b"")
        assert await guest.read(path, 10) == b""
        with pytest.raises(IsADirectoryError, match="directory"):
            await guest.read(str(tmp_path))
        with pytest.raises(IsADirectoryError):
            await guest.write(str(tmp_path), b"")
        with pytest.raises(FileNotFoundError, match="nothing"):
            await guest.read(str(tmp_path / "nothing"))

    asyncio.run(check())
    assert host.requests == 3 * 3 + 6  # three parts each time, and six small requests
