"""Messages of the Model Context Protocol over the streams of a program in a machine.

Source: modelcontextprotocol.io, specification 2025-06-18, *Transports*: stdio.
"""

from __future__ import annotations

import math
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

import anyio
import anyio.to_thread
from mcp import types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from foundation.errors import LinkError, LinkProtocolError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

    from provisioning.protocols import Json, Link

    Incoming = SessionMessage | Exception

_POLL_S = 0.2
_CALL_S = 30.0


class GuestProgram:
    """A program in a machine that reads and writes lines, as the agent's user.

    Args:
        link: link to the machine's probe.
        name: its name, unique on the machine.
    """

    def __init__(self, link: Link, name: str) -> None:
        self._link = link
        self._name = name

    def start(self, argv: Sequence[str]) -> None:
        """Start it.

        Raises:
            GuestCallError: it cannot be started.
            LinkError: the machine does not answer.
        """
        self._call("pipe_start", {"argv": list(argv)})

    def send(self, line: str) -> None:
        """Write a line to it.

        Raises:
            GuestCallError: it has ended.
            LinkError: the machine does not answer.
        """
        self._call("pipe_send", {"line": line})

    def receive(self) -> tuple[list[str], bool]:
        """Wait shortly for lines; return them, and whether there may be more.

        Raises:
            GuestCallError: a line is too long.
            LinkError: the machine does not answer, or its answer is invalid.
        """
        reply = self._call("pipe_receive", {"seconds": _POLL_S})
        lines = reply.get("lines") if isinstance(reply, dict) else None
        if not isinstance(lines, list):
            raise LinkProtocolError("The probe sent an invalid reply.")
        return [str(line) for line in lines], bool(cast("dict[str, Json]", reply).get("is_open"))

    def _call(self, op: str, params: dict[str, Json]) -> Json:
        return self._link.call(op, {"name": self._name, **params}, timeout_s=_CALL_S)


@asynccontextmanager
async def guest_transport(
    program: GuestProgram,
) -> AsyncIterator[
    tuple[MemoryObjectReceiveStream[Incoming], MemoryObjectSendStream[SessionMessage]]
]:
    """Carry messages between a client and a program, which is only polled while it owes an answer.

    Args:
        program: a started program.
    """
    to_client, incoming = anyio.create_memory_object_stream[Any](math.inf)
    outgoing, from_client = anyio.create_memory_object_stream[SessionMessage](0)
    pump = _Pump(program, to_client)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pump.write, from_client)
        tasks.start_soon(pump.read)
        yield incoming, outgoing
        tasks.cancel_scope.cancel()


class _Pump:
    """Moves messages in both directions.

    Args:
        program: a started program.
        to_client: where its messages go.
    """

    def __init__(self, program: GuestProgram, to_client: MemoryObjectSendStream[Incoming]) -> None:
        self._program = program
        self._to_client = to_client
        self._owed: set[object] = set()
        self._is_owed = anyio.Event()

    async def write(self, from_client: MemoryObjectReceiveStream[SessionMessage]) -> None:
        """Write what the client sends, until the program has ended."""
        async with from_client:
            async for sent in from_client:
                message = sent.message
                line = message.model_dump_json(by_alias=True, exclude_none=True)
                try:
                    await anyio.to_thread.run_sync(self._program.send, line)
                except LinkError as exc:
                    await self._to_client.send(exc)
                    return
                if isinstance(message, types.JSONRPCRequest):
                    self._owed.add(message.id)
                    self._is_owed.set()

    async def read(self) -> None:
        """Pass on what the program writes, until it has ended."""
        async with self._to_client:
            is_open = True
            while is_open:
                await self._is_owed.wait()
                try:
                    lines, is_open = await anyio.to_thread.run_sync(self._program.receive)
                except LinkError as exc:
                    await self._to_client.send(exc)
                    return
                for received in map(_parse, lines):
                    if isinstance(received, SessionMessage):
                        self._owed.discard(getattr(received.message, "id", None))
                    await self._to_client.send(received)
                if not self._owed:
                    self._is_owed = anyio.Event()


def _parse(line: str) -> Incoming:
    try:
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValidationError as exc:
        return exc
