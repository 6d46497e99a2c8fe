"""HTTP for the appliance: fill the world, read its state, ask for its servers' health."""

from __future__ import annotations

import base64
import hmac
import json
import os
import subprocess
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from typing import TYPE_CHECKING, BinaryIO, cast

from images.world.program.servers import ServerError, Servers
from images.world.program.sites_control import ask_site
from images.world.program.state import (
    STATE,
    count_oom_kills,
    digest_state,
    free_bytes,
    read_state,
    replace_state,
)

if TYPE_CHECKING:
    from collections.abc import Callable

PORT = 8090
SITES = "/sites/"
_CHUNK_BYTES = 1 << 16
_MAX_BODY_BYTES = 1 << 20
_SETTLE_S = 10.0
_EVERY_S = 0.01

Reply = tuple[int, str, bytes]


class World:
    """The servers and their state.

    Args:
        servers: the servers, not started.
    """

    def __init__(self, servers: Servers) -> None:
        self._servers = servers
        self._lock = threading.Lock()
        self._is_filled = False

    def fill(self, archive: BinaryIO) -> object:
        """Replace the whole state, with the servers stopped, and start them.

        Returns:
            The digest of the new state before any server saw it, and how long the parts took.
        """
        with self._lock:
            times_s = [time.monotonic()]
            self._is_filled = False
            self._servers.stop()
            times_s.append(time.monotonic())
            replace_state(archive)
            rows = digest_state()
            times_s.append(time.monotonic())
            self._servers.start()
            times_s.append(time.monotonic())
            self._is_filled = True
            stop_s, fill_s, start_s = (after - before for before, after in pairwise(times_s))
            return {"state": rows, "stop_s": stop_s, "fill_s": fill_s, "start_s": start_s}

    def digest(self) -> object:
        """Return the digest of the state, once no mail waits for its delivery."""
        with self._lock:
            self._settle()
            return {"state": digest_state()}

    def read(self) -> bytes:
        """Return the state as a tar, once no mail waits for its delivery."""
        with self._lock:
            self._settle()
            return read_state()

    def outside(self) -> object:
        """Return the mails that left the world, once no mail waits for its delivery."""
        with self._lock:
            self._settle()
            paths = sorted((STATE / "outside" / "new").iterdir())
            return {"mails": [base64.b64encode(path.read_bytes()).decode() for path in paths]}

    def health(self) -> object:
        """Return whether there is a state and room for more, and which servers have ended, by what."""
        return {
            "is_filled": self._is_filled,
            "ended": self._servers.ended(),
            "oom_kills": count_oom_kills(),
            "free_bytes": free_bytes(),
        }

    def _settle(self) -> None:
        deadline_s = time.monotonic() + _SETTLE_S
        while not self._servers.is_queue_empty() and time.monotonic() < deadline_s:
            time.sleep(_EVERY_S)


class Handler(BaseHTTPRequestHandler):
    """Answers the appliance, which shows a token."""

    protocol_version = "HTTP/1.1"
    server: ControlServer

    def do_GET(self) -> None:
        """Answer questions."""
        world = self.server.world
        self._answer(
            {
                "/health": lambda: _json(world.health()),
                "/digest": lambda: _json(world.digest()),
                "/outside": lambda: _json(world.outside()),
                "/state": lambda: (200, "application/x-tar", world.read()),
            }
        )

    def do_PUT(self) -> None:
        """Replace the state."""
        with tempfile.TemporaryFile(dir="/tmp") as archive:
            left = int(self.headers.get("Content-Length", 0))
            while left > 0 and (data := self.rfile.read(min(left, _CHUNK_BYTES))):
                archive.write(data)
                left -= len(data)
            archive.seek(0)
            self._answer(
                {"/state": lambda: _json(self.server.world.fill(cast("BinaryIO", archive)))}
            )

    def do_POST(self) -> None:
        """Change something at a site."""
        self._answer({})

    def _answer(self, operations: dict[str, Callable[[], Reply]]) -> None:
        shown = self.headers.get("Authorization", "").encode()
        expected = f"Bearer {self.server.token}".encode()
        if not hmac.compare_digest(shown, expected):
            reply: Reply = (403, "text/plain", b"wrong token")
        elif operation := operations.get(self.path, self._site_operation()):
            try:
                reply = operation()
            except (OSError, ServerError, subprocess.CalledProcessError) as exc:
                details = getattr(exc, "stderr", None) or b""
                reply = (500, "text/plain", f"{exc} ".encode() + details)
        else:
            reply = (404, "text/plain", b"no such operation")
        code, kind, body = reply
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _site_operation(self) -> Callable[[], Reply] | None:
        """Return the operation of a request for a site; None for other requests."""
        if not self.path.startswith(SITES):
            return None
        path = self.path.removeprefix(SITES.rstrip("/"))
        length = 0 if self.command == "PUT" else int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(min(length, _MAX_BODY_BYTES))
        return lambda: ask_site(self.command, path, body)

    def log_message(self, *_: object) -> None:
        """Log nothing: each request is the appliance's, which logs it."""


class ControlServer(ThreadingHTTPServer):
    """The server of `Handler`.

    Args:
        world: the world.
        token: what requests must show.
    """

    daemon_threads = True

    def __init__(self, world: World, token: str) -> None:
        self.world = world
        self.token = token
        super().__init__(("0.0.0.0", PORT), Handler)  # noqa: S104 - the container's own network


def serve() -> None:
    """Serve until the container is stopped."""
    token = os.environ.pop("MESOCOSM_WORLD_TOKEN")
    certificate = os.environ.pop("MESOCOSM_WORLD_CERTIFICATE")
    ControlServer(World(Servers(certificate)), token).serve_forever()


def _json(value: object) -> Reply:
    return 200, "application/json", json.dumps(value).encode()
