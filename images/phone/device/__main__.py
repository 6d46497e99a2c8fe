"""Run the reference phone: ``python3 -m images.phone.device``."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from images.phone.device.adb.server import AdbServer
from images.phone.device.adb.services import Services
from images.phone.device.commands.catalog import COMMANDS, Commands
from images.phone.device.config import DeviceConfig
from images.phone.device.console import ConsoleServer
from images.phone.device.machine import PhoneMachine
from images.phone.device.phone import Phone
from images.phone.device.processes import Processes, become_subreaper
from images.phone.device.ringer import Ringer
from images.phone.device.shell.control import ControlServer, install
from images.phone.device.shell.environment import ShellEnvironment
from images.phone.device.store.database import Store

if TYPE_CHECKING:
    from collections.abc import Sequence

KEYS_VARIABLE = "MESOCOSM_ADB_KEYS"
TOKEN_VARIABLE = "MESOCOSM_CONSOLE_TOKEN"  # noqa: S105 - the name of a variable


def parse(argv: Sequence[str]) -> tuple[DeviceConfig, argparse.Namespace]:
    """Parse the command line and the environment."""
    parser = argparse.ArgumentParser(prog="reference-phone", description=__doc__)
    parser.add_argument("--root", type=Path, default=Path("/"), help="folder that tools see as /")
    parser.add_argument("--state", type=Path, help="folder of state and snapshots")
    parser.add_argument("--commands", type=Path, help="folder of Android's commands")
    parser.add_argument("--address", default="127.0.0.1", help="listen address")
    parser.add_argument("--adb-port", type=int, default=5555)
    parser.add_argument("--console-port", type=int, default=5554)
    parser.add_argument("--keys", type=Path, help="file of known ADB keys")
    parser.add_argument("--name", default="reference_phone")
    parser.add_argument(
        "--ready", type=Path, help="file for the ports, written once the phone serves"
    )
    parser.add_argument("--install", action="store_true", help="only install Android's commands")
    args = parser.parse_args(argv)
    config = DeviceConfig(
        root=args.root,
        state_dir=args.state or args.root / "data/system",
        commands_dir=args.commands or args.root / "system/bin",
        address=args.address,
        adb_port=args.adb_port,
        console_port=args.console_port,
        keys=tuple(os.environ.get(KEYS_VARIABLE, "").splitlines()),
        keys_file=args.keys,
        token=os.environ.get(TOKEN_VARIABLE, ""),
        name=args.name,
    )
    return config, args


def run(config: DeviceConfig, ready: Path | None) -> None:
    """Serve until the console's ``kill`` command or a signal ends the phone."""
    config.make_folders()
    if not os.access(config.commands_dir, os.W_OK):
        pass  # a container's root is read-only: the image already contains them
    else:
        install(COMMANDS, config.commands_dir, config.socket)
    become_subreaper()
    store = Store(config.database)
    phone, processes = Phone(store, config.root), Processes()
    machine = PhoneMachine(config, phone, processes)
    commands = Commands(phone, config, machine)
    environment = ShellEnvironment(config, processes, commands)
    control = ControlServer(config.socket, commands)
    services = Services(environment, phone, machine)
    adb = AdbServer(config, store.properties(), services)
    machine.at_reboot.append(adb.disconnect_all)
    machine.at_load.append(services.end_reverses)
    console = ConsoleServer(config, machine, phone)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: machine.stop())
    phone.compositor.screenshot()
    ringer = Ringer(phone)
    for server in (control, adb, console, ringer, machine.syncer):
        server.start()
    if ready is not None:
        _announce(ready, {"adb": adb.port, "console": console.port, "pid": os.getpid()})
    machine.wait()
    for server in (adb, console, control, ringer, machine.syncer):
        server.stop()
    processes.kill_all()
    with phone.lock:
        store.close()


def _announce(path: Path, ports: dict[str, int]) -> None:
    """Write the ports atomically."""
    fd, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(fd, "w") as file:
        json.dump(ports, file)
    Path(name).replace(path)


def main() -> None:
    """Read the arguments and serve."""
    config, args = parse(sys.argv[1:])
    if args.install:
        install(COMMANDS, config.commands_dir, config.socket)
    else:
        run(config, args.ready)


if __name__ == "__main__":
    main()
