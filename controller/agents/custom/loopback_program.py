"""Forward connections from a loopback port to a Unix socket until standard input ends.

Executed in a container next to an agent's, by Python 3.9 or newer; uses only the standard library.
"""

from __future__ import annotations

import asyncio
import os
import sys

_CHUNK_BYTES = 65536
_UNREACHABLE = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(_CHUNK_BYTES):
            writer.write(data)
            await writer.drain()
    except OSError:
        return  # either end closed the connection


async def _serve(path: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        inner_reader, inner_writer = await asyncio.open_unix_connection(path)
    except OSError:
        writer.write(_UNREACHABLE)
        writer.close()
        return
    both = (_copy(reader, inner_writer), _copy(inner_reader, writer))
    tasks = [asyncio.ensure_future(coroutine) for coroutine in both]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()
    writer.close()
    inner_writer.close()


async def _main(port: int, path: str) -> None:
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _loop, _context: None)  # its output would not be read
    await asyncio.start_server(lambda *streams: _serve(path, *streams), "127.0.0.1", port)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await loop.run_in_executor(None, sys.stdin.buffer.read)
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(_main(int(sys.argv[1]), sys.argv[2]))
