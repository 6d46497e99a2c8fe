"""A registered agent's network: only a loopback interface, on which its model is available.

::

    agent's container ──┐ one network namespace, only loopback
    relay's container ──┴ 127.0.0.1:8099 ── Unix socket ── ModelGateway, in this process ── endpoint

The relay's container creates the namespace, so that the model is available when the agent starts.
It only forwards bytes; this process, the only one with the key, decides which requests are allowed.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING

from controller.models.adapters import find_adapter
from controller.models.gateway import ModelGateway
from foundation.bounded import CallThread, NoAnswerError
from foundation.errors import ModelUnavailableError
from foundation.process import bound_to_thread, kill_group, start

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.models.settings import ModelSettings

PORT = 8099
_ORIGIN = f"http://127.0.0.1:{PORT}"
_PROGRAM = Path(__file__).with_name("loopback_program.py")
_SOCKET = "/run/model.sock"
_START_S = 30.0


def model_environment(settings: ModelSettings) -> dict[str, str]:
    """Return an agent's environment variables for its model, with a dummy key that SDKs require."""
    rules = find_adapter(settings.adapter).gateway
    base_url = _ORIGIN + rules.prefix
    return {
        "MESOCOSM_MODEL_ADAPTER": settings.adapter,
        "MESOCOSM_MODEL_BASE_URL": base_url,
        "MESOCOSM_MODEL_NAME": settings.name,
        **rules.environment(base_url),
    }


class ModelAccess:
    """Provides a model on the loopback of a container's network.

    Args:
        settings: the model's settings.
        folder: parent of the folders of sockets.
        relay_argv: returns the command of the relay's container for the mount of a socket and the
            arguments of Python.

    Attributes:
        meter: measures how long the model does not answer.
        usage: measures the usage of answered calls.

    Raises:
        ModelUnavailableError: the relay does not start.
        RequirementError: the socket's path is too long.
    """

    def __init__(
        self,
        settings: ModelSettings,
        folder: Path,
        relay_argv: Callable[[str, list[str]], list[str]],
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with contextlib.ExitStack() as stack:
            own = Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=folder))
            stack.callback(shutil.rmtree, own, ignore_errors=True)
            gateway = ModelGateway(settings, own / "s")
            stack.callback(gateway.close)
            self.meter, self.usage = gateway.meter, gateway.usage
            mount = f"type=bind,source={own / 's'},target={_SOCKET}"
            program = ["-I", "-c", _PROGRAM.read_text(), str(PORT), _SOCKET]
            stack.callback(_end, process := _start(relay_argv(mount, program)))
            _require_ready(process)
            self._open = stack.pop_all()

    def close(self) -> None:
        """Stop the relay's program and the gateway; the caller removes the relay's container."""
        self._open.close()


def remove_sockets(folder: Path, is_alive: Callable[[str], bool]) -> None:
    """Remove folders left by killed processes."""
    for path in folder.glob("*-*"):
        if not is_alive(path.name.partition("-")[0]):
            shutil.rmtree(path, ignore_errors=True)


def _start(argv: list[str]) -> subprocess.Popen[bytes]:  # noqa: TID251 - as a type
    with bound_to_thread():
        return start(argv, stdin=subprocess.PIPE, merge=True)


def _require_ready(process: subprocess.Popen[bytes]) -> None:  # noqa: TID251 - as a type
    output = _stream(process.stdout)
    try:
        with CallThread() as thread:
            line = thread.run(output.readline, timeout_s=_START_S)
    except NoAnswerError:
        line = b"It did not produce any output.\n"
    if line != b"ready\n":
        raise ModelUnavailableError(
            "The relay between a registered agent and its model did not start.",
            details=line.decode(errors="replace").strip(),
            resolution="Check whether the Docker engine starts containers: `mesocosm doctor`.",
        )


def _end(process: subprocess.Popen[bytes]) -> None:  # noqa: TID251 - as a type
    kill_group(process)
    for stream in (process.stdin, process.stdout):
        with contextlib.suppress(OSError):
            _stream(stream).close()


def _stream(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None  # noqa: S101 - both are pipes
    return stream
