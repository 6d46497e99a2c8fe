"""A real SSH server in the test process that executes commands."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
from asyncio.subprocess import PIPE
from typing import TYPE_CHECKING

import asyncssh

from provisioning.links.ssh import SshTarget

if TYPE_CHECKING:
    from pathlib import Path

    Channel = asyncssh.SSHServerProcess[bytes]


class SshStandIn:
    """SSH server for one user with one key on a loopback port.

    Args:
        folder: folder for the key file.
    """

    def __init__(self, folder: Path) -> None:
        host_key = asyncssh.generate_private_key("ssh-ed25519")
        user_key = asyncssh.generate_private_key("ssh-ed25519")
        key_file = folder / "id"
        user_key.write_private_key(str(key_file))
        key_file.chmod(0o600)
        authorized = asyncssh.import_authorized_keys(user_key.export_public_key().decode())
        self._connections: list[asyncssh.SSHServerConnection] = []
        self._running: set[int] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        starting = asyncio.run_coroutine_threadsafe(self._serve(host_key, authorized), self._loop)
        self._server = starting.result(20)
        self.target = SshTarget(
            host="127.0.0.1",
            port=self._server.get_port(),
            user="root",
            key_file=key_file,
            host_key=" ".join(host_key.export_public_key().decode().split()[:2]),
        )

    def close(self) -> None:
        """Close all connections and stop."""
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(20)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _stop(self) -> None:
        self._server.close()
        for pid in self._running:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
        for connection in self._connections:
            connection.abort()
            await connection.wait_closed()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        if others:
            await asyncio.wait(others, timeout=10)
        await self._server.wait_closed()

    async def _serve(
        self, host_key: asyncssh.SSHKey, authorized: asyncssh.SSHAuthorizedKeys
    ) -> asyncssh.SSHAcceptor:
        connections = self._connections

        class Server(asyncssh.SSHServer):
            def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
                connections.append(conn)

        return await asyncssh.create_server(
            Server,
            "127.0.0.1",
            0,
            server_host_keys=[host_key],
            authorized_client_keys=authorized,
            process_factory=self._run_command,
            encoding=None,
        )

    async def _run_command(self, channel: Channel) -> None:
        """Run the client's command, and copy its streams explicitly.

        asyncssh's redirection closes the connection if the program ends first.
        """
        child = await asyncio.create_subprocess_shell(
            channel.command or "exit 1",
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            start_new_session=True,
        )
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stderr is not None
        self._running.add(child.pid)
        feeding = asyncio.create_task(pump(channel.stdin, child.stdin))
        await asyncio.gather(pump(child.stdout, channel.stdout), pump(child.stderr, channel.stderr))
        code = await child.wait()
        self._running.discard(child.pid)
        channel.exit(code if code >= 0 else 128 - code)
        channel.close()
        await feeding


async def pump(
    source: asyncio.StreamReader | asyncssh.SSHReader[bytes],
    sink: asyncio.StreamWriter | asyncssh.SSHWriter[bytes],
) -> None:
    """Copy bytes until the source ends, even if the reader is gone; then close a program's input."""
    while data := await read(source):
        with contextlib.suppress(OSError, asyncssh.Error):
            sink.write(data)
            await sink.drain()
    if isinstance(sink, asyncio.StreamWriter):
        sink.close()


async def read(source: asyncio.StreamReader | asyncssh.SSHReader[bytes]) -> bytes:
    """Return some bytes; none at the end of the stream or after an error."""
    try:
        return await source.read(1 << 16)
    except (OSError, asyncssh.Error):
        return b""
