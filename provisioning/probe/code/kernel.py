"""A persistent Python kernel of the agent's user, by Jupyter's messaging protocol.

Every reply is matched to its request by the id of its parent, so that output of an earlier, interrupted
request is never taken for that of a later one.

Source: jupyter-client documentation, *Messaging in Jupyter*.
"""

from __future__ import annotations

import json
import os
import queue
import shutil
import tempfile
import time
from typing import TYPE_CHECKING, Any

from provisioning.probe.code.output import Output
from provisioning.probe.errors import ProbeError

if TYPE_CHECKING:
    from jupyter_client.blocking import BlockingKernelClient
    from jupyter_client.manager import KernelManager

_START_S = 150.0
_INTERRUPT_S = 3.0
_POLL_S = 0.05
_FOLDERS = ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
_NO_INPUT = json.dumps({"error": "input() has nobody who answers"})


class Kernel:
    """A Python kernel, which is started when code is first executed.

    Args:
        prelude: source of what the kernel offers.
    """

    def __init__(self, prelude: str) -> None:
        self._prelude = prelude
        self._manager: KernelManager | None = None
        self._client: BlockingKernelClient | None = None
        self._folder = ""
        self._request = ""
        self._deadline_s = 0.0
        self._output = Output()
        self._is_error = False

    def begin(self, code: str, timeout_s: float) -> dict[str, Any]:
        """Execute code, and return the first event; see `go_on`.

        Raises:
            ProbeError: ``unsupported`` if the guest has no kernel, or it does not start.
        """
        client = self._ready()
        self._output, self._is_error = Output(), False
        self._deadline_s = time.monotonic() + timeout_s
        # Otherwise a request that follows a failed one at once is dropped.
        self._request = client.execute(code, allow_stdin=True, stop_on_error=False)
        return self._next()

    def go_on(self, answer: str) -> dict[str, Any]:
        """Answer the input that the last event requested, and return the next event.

        An event is ``{"input": text}``, or the end: ``{"text", "picture", "status"}``, of which the
        status is ``ok``, ``error``, ``timeout`` (interrupted) or ``restarted`` (had to be killed).

        Raises:
            ProbeError: ``bad_params`` if no code runs.
        """
        if self._client is None or not self._request:
            raise ProbeError("bad_params", "no code is running")
        self._client.input(answer)
        return self._next()

    def stop(self) -> None:
        """End the kernel."""
        if self._client is not None:
            self._client.stop_channels()
        if self._manager is not None:
            self._manager.shutdown_kernel(now=True)
        self._manager, self._client, self._request = None, None, ""
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = ""

    def _ready(self) -> BlockingKernelClient:
        if self._manager is not None and self._client is not None and self._manager.is_alive():
            return self._client
        self.stop()
        self._folder = tempfile.mkdtemp(prefix="mesocosm-kernel-")
        before = dict(os.environ)
        # Nothing of Jupyter's in the home folder; its library looks at these, too.
        os.environ.update(dict.fromkeys(_FOLDERS, self._folder), PYTHONDONTWRITEBYTECODE="1")
        try:
            return self._start()
        finally:
            os.environ.clear()
            os.environ.update(before)

    def _start(self) -> BlockingKernelClient:
        try:
            from jupyter_client.manager import KernelManager
        except ImportError as exc:
            raise ProbeError("unsupported", f"this desktop has no Python kernel: {exc}") from exc
        # Its channels are sockets in a folder of the user, not ports of the desktop.
        manager = KernelManager(
            kernel_name="python3",
            transport="ipc",
            ip=os.path.join(self._folder, "socket"),
            connection_file=os.path.join(self._folder, "connection.json"),
        )
        try:
            manager.start_kernel(
                env=dict(os.environ),
                cwd=os.getcwd(),
                extra_arguments=["--HistoryManager.enabled=False"],
            )
            client = manager.blocking_client()
            client.start_channels()
            client.wait_for_ready(timeout=_START_S)
            client.execute_interactive(self._prelude, silent=True, timeout=_START_S)
        except (OSError, RuntimeError, TimeoutError) as exc:
            self._manager = manager
            self.stop()
            raise ProbeError("unsupported", f"the Python kernel does not start: {exc}") from exc
        self._manager, self._client = manager, client
        return client

    def _next(self) -> dict[str, Any]:
        """Return the next event of the request."""
        while time.monotonic() < self._deadline_s:
            event = self._poll()
            if event is not None:
                return event
        return self._interrupt()

    def _poll(self) -> dict[str, Any] | None:
        """Take what the kernel has sent; return an event if there is one."""
        client = self._client
        assert client is not None  # noqa: S101 - a request runs
        asked = self._take(client.get_stdin_msg, 0.0)
        if asked is not None and asked["msg_type"] == "input_request":
            prompt = str(asked["content"].get("prompt", ""))
            if _is_request(prompt):
                return {"input": prompt}
            client.input(_NO_INPUT)
        message = self._take(client.get_iopub_msg, _POLL_S)
        if message is None:
            manager = self._manager
            if manager is not None and not manager.is_alive():
                return self._restart("The Python kernel ended; its variables are lost.")
            return None
        return self._read(message)

    def _take(self, get: Any, timeout_s: float) -> dict[str, Any] | None:  # noqa: ANN401
        """Return the next message of the present request; other messages are dropped."""
        try:
            message: dict[str, Any] = get(timeout=timeout_s)
        except queue.Empty:
            return None
        is_own = message.get("parent_header", {}).get("msg_id") == self._request
        return message if is_own else {"msg_type": "", "content": {}}

    def _read(self, message: dict[str, Any]) -> dict[str, Any] | None:
        kind, content = message["msg_type"], message["content"]
        if kind == "stream":
            self._output.add(str(content.get("text", "")))
        elif kind in {"execute_result", "display_data"}:
            self._output.add_value(content.get("data", {}))
        elif kind == "error":
            self._is_error = True
            self._output.add("\n".join(map(str, content.get("traceback", []))) + "\n")
        elif kind == "status" and content.get("execution_state") == "idle":
            return self._end("error" if self._is_error else "ok")
        return None

    def _interrupt(self) -> dict[str, Any]:
        """Interrupt the request; kill the kernel if it does not stop."""
        assert self._manager is not None  # noqa: S101 - a request runs
        self._manager.interrupt_kernel()
        until_s = time.monotonic() + _INTERRUPT_S
        while time.monotonic() < until_s:
            event = self._poll()
            if event is not None and "input" not in event:
                return {**event, "status": "timeout"} if event["status"] != "restarted" else event
        return self._restart(
            "It did not stop: the Python kernel was restarted, its variables are lost."
        )

    def _restart(self, why: str) -> dict[str, Any]:
        self._output.add(f"\n{why}\n")
        event = self._end("restarted")
        self.stop()
        return event

    def _end(self, status: str) -> dict[str, Any]:
        self._request = ""
        return {"text": self._output.text(), "picture": self._output.picture, "status": status}


def _is_request(prompt: str) -> bool:
    """Return whether a prompt is a request of the prelude, not of the agent's own `input`."""
    try:
        return isinstance(json.loads(prompt), dict)
    except ValueError:
        return False
