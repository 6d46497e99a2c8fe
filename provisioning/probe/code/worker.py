"""Helper process that runs the agent's code as the agent's user.

It is started as root, loads everything from the zipapp, which the user cannot read, and then
switches to the user. The agent's code can end it; the next call then gets a new one.
"""

from __future__ import annotations

import os
import pkgutil
import sys
from typing import TYPE_CHECKING, Any

from provisioning.probe.code.kernel import Kernel
from provisioning.probe.code.pipes import Pipes
from provisioning.probe.code.shell import Shell
from provisioning.probe.errors import ProbeError
from provisioning.probe.serving import worker

if TYPE_CHECKING:
    from provisioning.probe.serving.params import Params
    from provisioning.probe.system.identity import Identity


def main(identity: Identity) -> None:
    """Serve until the probe exits."""
    in_fd, out_fd = worker.claim_streams()
    prelude = pkgutil.get_data("provisioning.probe.code", "prelude.py") or b""
    code = Code(prelude.decode())
    identity.become()
    # The zipapp, which the user cannot read, would make every later import fail.
    sys.path[:] = [entry for entry in sys.path if os.access(entry, os.R_OK)]
    home = os.path.expanduser("~")
    os.chdir(home if os.path.isdir(home) else "/")
    ops = {
        "code_begin": code.begin,
        "code_continue": code.go_on,
        "shell": code.shell,
        "pipe_start": code.start_pipe,
        "pipe_send": code.send,
        "pipe_receive": code.receive,
    }
    try:
        worker.serve(ops, in_fd, out_fd)
    finally:
        code.stop()


class Code:
    """The agent's kernel and shell.

    Args:
        prelude: source of what the kernel offers.
    """

    def __init__(self, prelude: str) -> None:
        self._kernel = Kernel(prelude)
        self._shell = Shell()
        self._pipes = Pipes()

    def begin(self, params: Params) -> dict[str, Any]:
        """Execute Python code and return its first event; see `Kernel.go_on`."""
        return self._kernel.begin(_text(params, "code"), params.number("seconds"))

    def go_on(self, params: Params) -> dict[str, Any]:
        """Answer the input that the last event requested, and return the next event."""
        return self._kernel.go_on(params.text("answer"))

    def shell(self, params: Params) -> dict[str, Any]:
        """Run a command in the shell and return its output."""
        return self._shell.run(_text(params, "command"), params.number("seconds"))

    def start_pipe(self, params: Params) -> None:
        """Start a program whose standard streams stay open; see `Pipes`."""
        self._pipes.start(params.text("name"), params.texts("argv"))

    def send(self, params: Params) -> None:
        """Write a line to a program."""
        self._pipes.send(params.text("name"), _text(params, "line"))

    def receive(self, params: Params) -> dict[str, Any]:
        """Return the next lines of a program."""
        return self._pipes.receive(params.text("name"), params.number("seconds"))

    def stop(self) -> None:
        """End kernel, shell and programs."""
        self._pipes.stop()
        self._kernel.stop()
        self._shell.stop()


def _text(params: Params, name: str) -> str:
    """Return a text that programs accept."""
    text = params.text(name)
    if "\0" in text:
        raise ProbeError("bad_params", f"{name} contains a null character")
    return text
