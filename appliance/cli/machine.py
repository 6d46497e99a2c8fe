"""``mesocosm machine``: the machines of this host, one by one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from appliance.cli.output import JsonOption, console_err, console_out, print_json

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from appliance.base.files import FileLock
    from provisioning.machine_folder import MachineFolder, MachineRecord


def _complete(incomplete: str) -> list[str]:
    """Complete the id of a machine."""
    from appliance.base.settings import get_settings
    from provisioning.machine_folder import iter_folders

    ids = [folder.machine_id for folder in iter_folders(get_settings())]
    return [one for one in ids if one.startswith(incomplete)]


MachineArgument = Annotated[
    str, typer.Argument(metavar="MACHINE", help="Id of a machine.", autocompletion=_complete)
]


def register(app: typer.Typer) -> None:
    """Add the command group."""
    group = typer.Typer(no_args_is_help=True, help="List, see, rewind and remove machines.")
    group.command("list")(list_machines)
    group.command("screenshot")(screenshot)
    group.command("rewind")(rewind)
    group.command("stop")(stop)
    group.command("delete")(delete)
    group.command("sweep")(sweep)
    group.command("verify")(verify)
    app.add_typer(group, name="machine")


def list_machines(json: JsonOption = False) -> None:
    """List machines: what they are, their state, and whether somebody uses them now."""
    from rich.table import Table

    from appliance.base.settings import get_settings
    from provisioning.machine_folder import iter_folders

    rows = []
    for folder in iter_folders(get_settings()):
        record = folder.read()
        is_free = folder.lock.try_acquire()
        folder.lock.release()
        shown = record.model_dump(mode="json", exclude={"details"}) if record else {}
        rows.append({**shown, "machine_id": folder.machine_id, "in_use": not is_free})
    if json:
        print_json(rows)
        return
    table = Table("machine", "kind", "backend", "image", "accelerator", "state", "in use")
    for row in rows:
        cells = ("machine_id", "kind", "backend", "image", "accelerator", "state")
        table.add_row(*(str(row.get(cell, "?")) for cell in cells), "yes" if row["in_use"] else "")
    console_out().print(table)


def screenshot(
    machine: MachineArgument,
    file: Annotated[Path, typer.Argument(help="PNG file to write.")] = Path("screenshot.png"),
) -> None:
    """Save what a machine shows as a PNG."""
    from PIL import Image

    from appliance.base.settings import get_settings
    from provisioning.backends import host_makers

    folder, record = _find(machine)
    attached = host_makers(get_settings())[record.kind].attach(folder, record)
    frame = attached.screen.capture()
    attached.release()
    Image.fromarray(frame).save(file, format="PNG")
    console_err().print(f"{file}: {frame.shape[1]} x {frame.shape[0]} px")


def rewind(machine: MachineArgument, json: JsonOption = False) -> None:
    """Bring a machine that nobody uses back to its snapshot ``ready``, and verify it."""
    from appliance.base.settings import get_settings
    from provisioning.backends import host_makers
    from provisioning.protocols import READY

    folder, record = _find(machine)
    with _held(folder):
        attached = host_makers(get_settings())[record.kind].attach(folder, record)
        attached.power.start()
        report = attached.snapshots.rewind(READY)
        attached.release()
    phases = {name: round(seconds, 4) for name, seconds in report.phases_s.items()}
    if json:
        print_json({"path": report.path, "seconds": round(report.seconds, 4), "phases_s": phases})
    else:
        parts = ", ".join(f"{name} {seconds:.3f} s" for name, seconds in phases.items())
        console_out().print(f"verified after {report.seconds:.3f} s ({parts})")


def stop(machine: MachineArgument) -> None:
    """Stop a machine that nobody uses; its snapshot stays."""
    from appliance.base.settings import get_settings
    from provisioning.backends import host_makers

    folder, record = _find(machine)
    with _held(folder):
        host_makers(get_settings())[record.kind].attach(folder, record).power.stop()


def delete(machine: MachineArgument) -> None:
    """Remove a machine that nobody uses, and all that it left."""
    from appliance.base.settings import get_settings
    from provisioning.backends import host_makers

    folder, record = _find(machine)
    with _held(folder):
        host_makers(get_settings())[record.kind].attach(folder, record).delete()


def sweep(json: JsonOption = False) -> None:
    """Remove what killed commands left behind."""
    from appliance.base.settings import get_settings
    from provisioning.lease import LocalFleet

    removed = LocalFleet(get_settings()).sweep()
    if json:
        print_json(removed)
    else:
        console_out().print("\n".join(removed) or "Nothing to remove.")


def verify(
    phone: Annotated[
        str, typer.Option(metavar="SERIAL", help="HOST:PORT, or as `adb devices` names it.")
    ],
    adb_port: Annotated[
        int | None, typer.Option(help="Port of an adb server that knows it; else our own.")
    ] = None,
    console: Annotated[str, typer.Option(metavar="HOST:PORT", help="Its console, if any.")] = "",
    token_file: Annotated[Path | None, typer.Option(help="The console's token.")] = None,
    json: JsonOption = False,
) -> None:
    """Check that a phone, any that speaks ADB, does what Mesocosm asks of it.

    It opens Settings and the home screen, and removes the setting and the folder that it makes.
    """
    from dataclasses import asdict

    from rich.table import Table

    from appliance.base.settings import get_settings
    from appliance.verify.phone import find_phone, verify_phone
    from appliance.verify.phone_checks import CHECKS

    found = find_phone(
        phone, get_settings(), adb_port=adb_port, console=console, token_file=token_file
    )
    findings = verify_phone(
        found, CHECKS, lambda one: console_err().print(f"{one.name}: {one.state}")
    )
    is_ok = all(one.state != "fail" for one in findings)
    if json:
        print_json({"ok": is_ok, "checks": [asdict(one) for one in findings]})
    else:
        table = Table("check", "state", "seconds", "what must hold", "what was said")
        for one in findings:
            table.add_row(one.name, one.state, f"{one.seconds:.2f}", one.what, one.said)
        console_out().print(table)
    if not is_ok:
        raise typer.Exit(1)


def _find(machine: str) -> tuple[MachineFolder, MachineRecord]:
    """Find a machine by id, or by kind where there is only one of it."""
    from appliance.base.errors import UnknownNameError
    from appliance.base.settings import get_settings
    from provisioning.machine_folder import iter_folders

    known = [(folder, folder.read()) for folder in iter_folders(get_settings())]
    of_kind = [(one, record) for one, record in known if record and record.kind == machine]
    by_id = [(one, record) for one, record in known if record and one.machine_id == machine]
    for folder, record in by_id or (of_kind if len(of_kind) == 1 else []):
        return folder, record
    raise UnknownNameError.of("machine", machine, [folder.machine_id for folder, _ in known])


def _held(folder: MachineFolder) -> AbstractContextManager[FileLock]:
    from appliance.base.files import locked

    return locked(folder.lock.path, what=f"The machine {folder.machine_id}")
