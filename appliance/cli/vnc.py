"""``mesocosm machine vnc``: look at a desktop VM, and take its pointer and keys."""

from __future__ import annotations

from typing import Annotated

import typer

from appliance.cli.machine_lookup import complete, find_machine
from appliance.cli.output import console_err, console_out


def vnc(
    machine: Annotated[
        str,
        typer.Argument(metavar="MACHINE", help="Id of a desktop VM.", autocompletion=complete),
    ],
    port: Annotated[int, typer.Option(help="Port on the loopback; 0 chooses a free one.")] = 0,
) -> None:
    """Let VNC viewers of this host see a desktop VM, in use or not, until Ctrl-C.

    There is no password: everybody on this host can look and type while the command runs. What is
    typed counts as the agent's doing.
    """
    import signal
    import threading

    from provisioning.desktop.qemu.vnc import VncRelay

    folder, _record = find_machine(machine)
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    with VncRelay(folder.path / "vnc.sock", port=port) as relay:
        console_err().print(f"{folder.machine_id} can be seen until Ctrl-C, for example by:")
        console_out().print(f"vncviewer 127.0.0.1::{relay.port}", markup=False)
        ended.wait()
