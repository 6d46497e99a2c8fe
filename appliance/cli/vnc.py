"""``mesocosm machine vnc``: view and control a desktop VM."""

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
    port: Annotated[int, typer.Option(help="Loopback port; 0: any free port.")] = 0,
) -> None:
    """Let VNC viewers on this host connect to a desktop VM, in use or not, until Ctrl-C.

    There is no password: all users of this host can see and control the VM while the command runs.
    Their input counts as the agent's.
    """
    import signal
    import threading

    from provisioning.desktop.qemu.vnc import VncRelay

    folder, _record = find_machine(machine)
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    with VncRelay(folder.path / "vnc.sock", port=port) as relay:
        console_err().print(f"{folder.machine_id} can be viewed until you press Ctrl-C, with e.g.:")
        console_out().print(f"vncviewer 127.0.0.1::{relay.port}", markup=False)
        ended.wait()
