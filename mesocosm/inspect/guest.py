"""Commands and files of one machine of an episode, of any size."""

from __future__ import annotations

import base64
import json
import uuid
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from mesocosm.client.errors import EpisodeOverError, ServiceError, StateConflictError, UnknownError
from mesocosm.inspect.errors import GoneError, UserError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mesocosm.client.aio import AsyncEnv
    from mesocosm.client.models import Command

_PROGRAM = files("mesocosm.inspect").joinpath("guest_program.py").read_text(encoding="utf-8")
_PYTHON = "/usr/bin/python3"
_PART_BYTES = 700_000
"""Bytes in a request: the service accepts 1 MiB, with base64."""
_SPOOL = "/tmp/mesocosm-"  # noqa: S108 - of the machine; the name is random
_FILE_S = 120.0
_MARGIN_S = 30.0
_MAX_S = 3500.0
_ERRORS: dict[str, type[OSError]] = {
    kind.__name__: kind
    for kind in (FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError)
}


@dataclass(frozen=True, slots=True)
class Ran:
    """Result of a command.

    Attributes:
        code: exit code; 128 plus the number for one ended by a signal.
        out: standard output.
        err: standard error.
        is_cut: whether an output exceeded the limit.
    """

    code: int
    out: bytes
    err: bytes
    is_cut: bool = False


class Guest:
    """One machine of an open episode.

    Args:
        env: the episode, opened with `commands`.
        role: role of the machine.
    """

    def __init__(self, env: AsyncEnv, role: str) -> None:
        self._env = env
        self._role = role

    async def home(self) -> str:
        """Return the home folder of the agent's user."""
        result = await self._run(["pwd"], None, b"", 30.0)
        return result.stdout.decode().strip()

    async def execute(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        user: str | None,
        input: bytes | None,
        timeout_s: float | None,
        limit_bytes: int,
    ) -> Ran:
        """Run a command to completion.

        Raises:
            TimeoutError: it did not end in time; all its processes were killed.
            PermissionError: it may not be executed.
            GoneError: the machine does not answer.
            UserError: the episode runs no commands of this user.
        """
        spec: dict[str, Any] = {
            "argv": list(argv),
            "cwd": cwd,
            "env": dict(env),
            "timeout": timeout_s,
            "limit": limit_bytes,
            "input": await self._spool(input, user) if input else "",
        }
        data = json.dumps(spec).encode()
        path = await self._spool(data, user) if len(data) > _PART_BYTES else ""
        budget_s = _MAX_S if timeout_s is None else min(timeout_s + _MARGIN_S, _MAX_S)
        reply = await self._call(["exec", path], user, b"" if path else data, budget_s)
        if isinstance(reply, Ran):
            return reply
        about = json.loads(reply.stdout)
        if about.get("timeout"):
            raise TimeoutError(f"{argv[0]} did not end within {timeout_s:g} s.")
        out = await self._output(about, "out", user)
        err = await self._output(about, "err", user)
        if "error" in about:
            return Ran(about["code"], out, about["error"].encode())
        return Ran(about["code"], out, err, about["cut"])

    async def write(self, path: str, data: bytes, user: str | None = None) -> None:
        """Write a file and make its folders; errors are those of `open`."""
        for start in range(0, max(len(data), 1), _PART_BYTES):
            part = data[start : start + _PART_BYTES]
            reply = await self._call(["write", path, "a" if start else "w"], user, part, _FILE_S)
            if isinstance(reply, Ran):
                raise GoneError(f"Cannot write {path}.", reply.err.decode(errors="replace"))

    async def read(
        self,
        path: str,
        max_bytes: int | None = None,
        user: str | None = None,
        *,
        removes: bool = False,
    ) -> bytes | None:
        """Read a file; errors are those of `open`. None if it is larger than `max_bytes`."""
        data = bytearray()
        while True:
            part = min(_PART_BYTES, max_bytes + 1) if max_bytes is not None else _PART_BYTES
            arguments = ["read", path, str(len(data)), str(part), "1" if removes else ""]
            reply = await self._call(arguments, user, b"", _FILE_S)
            if isinstance(reply, Ran):
                raise GoneError(f"Cannot read {path}.", reply.err.decode(errors="replace"))
            size = json.loads(reply.stderr)["size"]
            if max_bytes is not None and size > max_bytes:
                return None
            data += reply.stdout
            if len(data) >= size or not reply.stdout:
                return bytes(data)

    async def _spool(self, data: bytes, user: str | None) -> str:
        path = f"{_SPOOL}{uuid.uuid4().hex}"
        await self.write(path, data, user)
        return path

    async def _output(self, about: Mapping[str, Any], name: str, user: str | None) -> bytes:
        if path := about.get(f"{name}_file"):
            return await self.read(path, user=user, removes=True) or b""
        return base64.b64decode(about[name])

    async def _call(
        self, arguments: Sequence[str], user: str | None, data: bytes, timeout_s: float
    ) -> Command | Ran:
        """Run the program; a `Ran` is the failure to run anything as that user."""
        argv = [_PYTHON, "-I", "-c", _PROGRAM, *arguments]
        reply = await self._run(argv, user, data, timeout_s)
        if reply.fault == "timeout":
            raise TimeoutError(f"No result within {timeout_s:g} s.")
        text = reply.stderr.decode(errors="replace")
        if reply.fault or reply.exit_code is None:
            return Ran(126, b"", f"cannot run commands as {user or 'the agent'}: {text}".encode())
        if reply.exit_code:
            raise _error_of(text, arguments)
        return reply

    async def _run(
        self, argv: Sequence[str], user: str | None, data: bytes, timeout_s: float
    ) -> Command:
        try:
            return await self._env.run(self._role, argv, user=user, input=data, timeout_s=timeout_s)
        except (EpisodeOverError, UnknownError) as exc:
            raise GoneError(exc.brief, exc.details, exc.resolution) from exc
        except StateConflictError as exc:
            raise UserError(exc.brief, exc.details, exc.resolution) from exc
        except ServiceError as exc:
            raise GoneError(exc.brief, exc.details, exc.resolution) from exc


def _error_of(text: str, arguments: Sequence[str]) -> Exception:
    """Return the error that the program reported."""
    try:
        about = json.loads(text)
    except ValueError:
        return GoneError("The machine's Python failed.", text[-2000:])
    subject = "" if arguments[0] == "exec" else arguments[1]
    kind = _ERRORS.get(about["error"], OSError)
    return kind(f"{about['text']}: {subject}" if subject else about["text"])
