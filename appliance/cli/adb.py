"""``mesocosm machine adb``: connect the user's own adb tools to a phone."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Annotated, cast

import typer

from appliance.cli.machine_lookup import complete, find_machine, operations
from appliance.cli.output import JsonOption, console_err, console_out, print_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from provisioning.phone.adb.endpoint import Endpoint
    from provisioning.phone.reference.machine import ReferencePhone


def adb(
    machine: Annotated[
        str, typer.Argument(metavar="MACHINE", help="Id of a phone.", autocompletion=complete)
    ],
    port: Annotated[
        int | None,
        typer.Option(help="Also listen on this loopback port until Ctrl-C; 0: any free port."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Print the environment variables that let adb and similar tools use a running phone.

    Usage: eval "$(mesocosm machine adb phone)" && adb shell

    If that fails, `eval` fails too, and no phone of an earlier call stays selected.

    The appliance's adb server listens on a Unix socket that no other user can reach. With --port,
    it can also be reached over TCP, for programs that do not support Unix sockets (adbutils,
    Appium). Only programs of the user who runs this command can connect, and only until it ends.
    """
    with contextlib.nullcontext() if json or sys.stdout.isatty() else _failing_eval():
        phone = _find_phone(machine)
        serial, endpoint = phone.device.serial, phone.adb_server.endpoint
        phone.adb_server.connect(serial, timeout_s=10.0)
        phone.release()
    if port is None:
        _print({"ADB_SERVER_SOCKET": endpoint.spec, "ANDROID_SERIAL": serial}, json=json)
    else:
        _forward(endpoint, port, serial, json=json)


@contextlib.contextmanager
def _failing_eval() -> Iterator[None]:
    """Print commands that fail if the block raises an error and a shell evaluates the output.

    A command substitution that prints nothing succeeds, whatever the command's exit code was.
    """
    try:
        yield
    except BaseException:
        console_out().print("unset ADB_SERVER_SOCKET ANDROID_SERIAL; false")
        raise


def _find_phone(machine: str) -> ReferencePhone:
    """Find a phone of this appliance.

    Raises:
        UnknownNameError: there is no such machine.
        UsageError: the machine is not a phone.
    """
    from foundation.errors import UsageError
    from provisioning.phone.reference.record import PhoneRecord

    folder, record = find_machine(machine)
    if not isinstance(record, PhoneRecord):
        raise UsageError(
            f"{folder.machine_id} is a {record.kind}, which adb cannot use.",
            resolution="`mesocosm machine list` lists phones.",
        )
    return cast("ReferencePhone", operations().attach(folder, record))


def _forward(endpoint: Endpoint, port: int, serial: str, *, json: bool) -> None:
    import signal
    import threading

    from provisioning.phone.adb.forwarder import AdbForwarder

    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    with AdbForwarder(endpoint, port=port) as forwarder:
        variables = {
            "ANDROID_ADB_SERVER_ADDRESS": "127.0.0.1",
            "ANDROID_ADB_SERVER_HOST": "127.0.0.1",
            "ANDROID_ADB_SERVER_PORT": str(forwarder.port),
            "ANDROID_SERIAL": serial,
        }
        _print(variables, json=json)
        console_err().print("Your programs can connect until you press Ctrl-C.")
        ended.wait()


def _print(variables: dict[str, str], *, json: bool) -> None:
    import shlex

    if json:
        print_json(variables)
        return
    for name, value in variables.items():
        console_out().print(f"export {name}={shlex.quote(value)}", markup=False, soft_wrap=True)
