"""``mesocosm machine``: list and control the machines of this host."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from appliance.cli.adb import adb
from appliance.cli.groups import make_group
from appliance.cli.machine_image import ImageOption, save, start_of_image
from appliance.cli.machine_lookup import MachineArgument, complete, find_machine, operations
from appliance.cli.output import JsonOption, console_err, console_out, print_json, print_table
from appliance.cli.vnc import vnc

_SHOWN = {
    "kind", "backend", "image", "image_digest", "accelerator", "user", "home", "state", "is_fork",
    "created_s",
}  # fmt: skip


def register(app: typer.Typer) -> None:
    """Add the command group."""
    group = make_group(no_args_is_help=True, help="List, view, rewind and remove machines.")
    group.command("list")(list_machines)
    group.command("screenshot")(screenshot)
    group.command("rewind")(rewind)
    group.command("verify")(verify)
    group.command("fork")(fork)
    group.command("snapshot")(snapshot)
    group.command("shell")(shell)
    group.command("vnc")(vnc)
    group.command("adb")(adb)
    group.command("start")(start)
    group.command("save")(save)
    group.command("stop")(stop)
    group.command("delete")(delete)
    group.command("sweep")(sweep)
    app.add_typer(group, name="machine")


def list_machines(json: JsonOption = False) -> None:
    """List machines with their kind, current state, and whether they are in use.

    A machine whose process or container is gone is *ended*; *unreachable* means that the hypervisor
    or Docker engine does not answer.
    """
    from rich.table import Table

    from foundation.settings import get_settings
    from provisioning.fleet.liveness import open_liveness
    from provisioning.machine_folder import iter_folders

    rows = []
    liveness = open_liveness(get_settings())
    states = {machine.machine_id: machine.state for machine in liveness.check().machines}
    liveness.close()
    for folder in iter_folders(get_settings()):
        record = folder.read()
        in_use = folder.is_claimed()
        shown = record.model_dump(mode="json", include=_SHOWN) if record else {}
        if folder.machine_id in states:
            shown["state"] = states[folder.machine_id]
        rows.append({**shown, "machine_id": folder.machine_id, "in_use": in_use})
    rows += _not_taken_yet({str(row["machine_id"]) for row in rows})
    if json:
        print_json(rows)
        return
    table = Table("machine", "kind", "backend", "image", "accelerator", "state", "in use")
    for row in rows:
        cells = ("machine_id", "kind", "backend", "image", "accelerator", "state")
        table.add_row(*(str(row.get(cell, "?")) for cell in cells), "yes" if row["in_use"] else "")
    print_table(table)


def _not_taken_yet(known: set[str]) -> list[dict[str, object]]:
    """Return rows of the remote desktops that are configured but not in the fleet yet."""
    from foundation.settings import get_settings
    from provisioning.desktop.remote.backend import machine_id
    from provisioning.desktop.remote.config import read_remotes

    fresh = {"kind": "desktop", "backend": "remote", "state": "named", "in_use": False}
    named = read_remotes(get_settings())
    return [
        {**fresh, "machine_id": machine_id(remote)}
        for remote in named
        if machine_id(remote) not in known
    ]


def screenshot(
    machine: MachineArgument,
    file: Annotated[Path, typer.Argument(help="PNG file to write.")] = Path("screenshot.png"),
) -> None:
    """Save a screenshot of a machine as a PNG file."""
    from PIL import Image

    attached = operations().attach(*find_machine(machine))
    frame = attached.screen.capture()
    attached.release()
    Image.fromarray(frame).save(file, format="PNG")
    console_err().print(f"{file}: {frame.shape[1]} x {frame.shape[0]} px")


def rewind(machine: MachineArgument, json: JsonOption = False) -> None:
    """Rewind a machine that is not in use to its snapshot ``ready``, and verify it."""
    report = operations().rewind(find_machine(machine)[0].machine_id)
    phases = {name: round(seconds, 4) for name, seconds in report.phases_s.items()}
    if json:
        print_json({"path": report.path, "seconds": round(report.seconds, 4), "phases_s": phases})
    else:
        parts = ", ".join(f"{name} {seconds:.3f} s" for name, seconds in phases.items())
        console_out().print(f"verified after {report.seconds:.3f} s ({parts})")


def fork(json: JsonOption = False) -> None:
    """Start a fork of the desktop's template for manual use; it stays until you delete it."""
    machine_id, report = operations().fork()
    if json:
        print_json({"machine": machine_id, "seconds": round(report.seconds, 4)})
    else:
        console_out().print(f"{machine_id} verified after {report.seconds:.3f} s")


def snapshot(
    machine: MachineArgument,
    name: Annotated[str, typer.Argument(help="Name of the snapshot.")],
) -> None:
    """Save the current state of a machine that is not in use, including its RAM."""
    operations().snapshot(find_machine(machine)[0].machine_id, name)


def shell(machine: MachineArgument) -> None:
    """Open a root shell in a desktop VM over SSH."""
    import os

    from foundation.errors import MachineError, RequirementError, UsageError
    from foundation.process import find_tool
    from provisioning.desktop.qemu.machine import DesktopVm
    from provisioning.machine_state import MachineState

    folder, record = find_machine(machine)
    attached = operations().attach(folder, record)
    if not isinstance(attached, DesktopVm):
        raise UsageError(
            f"{folder.machine_id} has no SSH server.",
            resolution="For a phone, use `mesocosm machine adb`.",
        )
    if record.state is MachineState.WAITING:
        raise MachineError(
            f"{folder.machine_id} is waiting for a lease and is not running yet.",
            resolution="To start a running machine, use `mesocosm machine fork`.",
        )
    attached.power.start()  # an idle desktop is paused
    attached.release()
    target = attached.ssh_target()
    ssh = find_tool("ssh")
    if ssh is None:
        raise RequirementError("ssh is not installed.", resolution="Install openssh-client.")
    known = folder.path / "known_hosts"
    known.write_text(f"[{target.host}]:{target.port} {target.host_key}\n")
    options = ("-o", f"UserKnownHostsFile={known}", "-o", "StrictHostKeyChecking=yes")
    where = ("-i", str(target.key_file), "-p", str(target.port), f"{target.user}@{target.host}")
    os.execv(ssh, [str(ssh), *options, *where])  # noqa: S606  # the command is fixed


def start(
    machine: Annotated[
        str, typer.Argument(metavar="[MACHINE]", help="Id of a machine.", autocompletion=complete)
    ] = "",
    image: ImageOption = "",
    json: JsonOption = False,
) -> None:
    """Start a machine that is not in use, from its snapshot if it has one.

    With --image, start a new desktop of an image, which stays until it is deleted: set it up on its
    live screen, and save it as an image with `mesocosm machine save`.
    """
    from foundation.errors import UsageError

    if bool(machine) == bool(image):
        raise UsageError("Specify either a machine, or an image with --image.")
    if image:
        start_of_image(image, json=json)
        return
    machine_id = find_machine(machine)[0].machine_id
    operations().start(machine_id)
    if json:
        print_json({"machine": machine_id})


def stop(machine: MachineArgument) -> None:
    """Stop a machine that is not in use, and keep its snapshot."""
    operations().stop(find_machine(machine)[0].machine_id)


def delete(machine: MachineArgument) -> None:
    """Remove a machine that is not in use, and everything that belongs to it."""
    operations().delete(find_machine(machine)[0].machine_id)


def sweep(json: JsonOption = False) -> None:
    """Remove leftovers of commands that were killed."""
    from foundation.settings import get_settings
    from provisioning.fleet.local import LocalFleet

    removed = LocalFleet(get_settings()).sweep()
    if json:
        print_json(removed)
    else:
        console_out().print("\n".join(removed) or "Nothing to remove.")


def verify(
    machine: Annotated[
        str, typer.Argument(metavar="[MACHINE]", help="Id of a machine.", autocompletion=complete)
    ] = "",
    phone: Annotated[
        str, typer.Option(metavar="SERIAL", help="HOST:PORT, or a serial from `adb devices`.")
    ] = "",
    adb_port: Annotated[
        int | None, typer.Option(help="Port of an adb server that knows it; Mesocosm's by default.")
    ] = None,
    console: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Emulator console, if any.")
    ] = "",
    token_file: Annotated[Path | None, typer.Option(help="The console's token.")] = None,
    json: JsonOption = False,
) -> None:
    """Rewind and check a machine that is not in use, or check any phone that supports ADB.

    With --phone, opens Settings and the home screen of that phone, creates a setting and a folder,
    and removes both.
    """
    from foundation.errors import UsageError

    if bool(machine) == bool(phone):
        raise UsageError("Specify either a machine, or a phone with --phone SERIAL.")
    if phone:
        _verify_phone(phone, adb_port, console, token_file, json=json)
    else:
        _verify_machine(machine, json=json)


def _verify_machine(machine: str, *, json: bool) -> None:
    machine_id = find_machine(machine)[0].machine_id
    findings = operations().verify(machine_id)
    ok = all(finding.ok for finding in findings)
    if json:
        rows = [
            {"name": finding.name, "ok": finding.ok, "found": finding.detail}
            for finding in findings
        ]
        print_json({"machine": machine_id, "ok": ok, "checks": rows})
    else:
        for finding in findings:
            console_out().print(f"{'✓' if finding.ok else '✗'} {finding.name:8} {finding.detail}")
    if not ok:
        raise typer.Exit(1)


def _verify_phone(
    phone: str, adb_port: int | None, console: str, token_file: Path | None, *, json: bool
) -> None:

    from rich.table import Table

    from appliance.verify.phone import find_phone, verify_phone
    from appliance.verify.phone_checks import CHECKS
    from foundation.settings import get_settings

    phone_under_test = find_phone(
        phone, get_settings(), adb_port=adb_port, console=console, token_file=token_file
    )
    findings = verify_phone(
        phone_under_test, CHECKS, lambda check: console_err().print(f"{check.name}: {check.state}")
    )
    is_ok = all(finding.state != "fail" for finding in findings)
    if json:
        checks = [
            {
                "name": finding.name,
                "what": finding.what,
                "state": finding.state,
                "seconds": finding.seconds,
                "said": finding.message,
            }
            for finding in findings
        ]
        print_json({"ok": is_ok, "checks": checks})
    else:
        table = Table("check", "state", "seconds", "requirement", "message")
        for finding in findings:
            table.add_row(
                finding.name, finding.state, f"{finding.seconds:.2f}", finding.what, finding.message
            )
        print_table(table)
    if not is_ok:
        raise typer.Exit(1)
