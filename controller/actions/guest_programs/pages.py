"""Serve a folder at a port of the guest's loopback; run by root, with JSON on standard input.

The server runs as a user without rights, in a session of its own. The program ends once it answers.
"""

from __future__ import annotations

import json
import pwd
import socket
import subprocess
import sys
import time

_ADDRESS = "127.0.0.1"
_USER = "nobody"
_EVERY_S = 0.2


def serve(folder: str, port: int, timeout_s: float) -> None:
    """Start the server and wait until it answers.

    Args:
        folder: what is served.
        port: the port.
        timeout_s: how long to wait.

    Raises:
        SystemExit: the port is taken, the server ended, or it does not answer.
    """
    if _answers(port):
        sys.exit(f"Port {port} is taken.")
    user = pwd.getpwnam(_USER)
    server = subprocess.Popen(
        [
            *("/usr/bin/python3", "-I", "-m", "http.server", str(port)),
            *("--bind", _ADDRESS, "--directory", folder),
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        user=user.pw_uid,
        group=user.pw_gid,
        extra_groups=[],
        cwd="/",
    )
    ends_s = time.monotonic() + timeout_s
    while not _answers(port):
        if server.poll() is not None:
            sys.exit(f"The server of {folder} ended with {server.returncode}.")
        if time.monotonic() > ends_s:
            server.kill()
            sys.exit(f"The server of {folder} does not answer.")
        time.sleep(_EVERY_S)


def _answers(port: int) -> bool:
    try:
        socket.create_connection((_ADDRESS, port), timeout=1).close()
    except OSError:
        return False
    return True


if __name__ == "__main__":
    serve(**json.load(sys.stdin))
