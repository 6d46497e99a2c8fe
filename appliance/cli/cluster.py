"""``mesocosm cluster``: run trials on several hosts, with Ray."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from appliance.cli.groups import make_group
from appliance.cli.output import JsonOption, print_json, print_table, say

if TYPE_CHECKING:
    from controller.executors.cluster.control import ClusterControl, HostRow
    from controller.executors.cluster.records import HeadRecord
    from foundation.settings import Settings

_LOOPBACK = "127.0.0.1"


def _names() -> list[str]:
    """Return the name of this host in its cluster, for completion."""
    from controller.executors.cluster.records import ClusterFiles
    from foundation.settings import get_settings

    host = ClusterFiles(get_settings()).host()
    return [] if host is None else [host.name]


AddressOption = Annotated[
    str,
    typer.Option(
        "--address",
        metavar="IP",
        help="Address at which the other hosts reach this one; by default only this machine does.",
    ),
]
ServiceOption = Annotated[
    str,
    typer.Option(
        "--service-url",
        metavar="URL",
        help="Address at which hosts reach this appliance's service, which records their trials; by "
        "default that of the settings.",
    ),
]
Name = Annotated[
    str,
    typer.Argument(
        help="Name of the host: lower-case letters, digits, hyphens; by default its own."
    ),
]
DrainedName = Annotated[str, typer.Argument(help="Name of the host.", autocompletion=_names)]
ElsewhereOption = Annotated[
    bool,
    typer.Option(
        "--elsewhere", help="Print the commands to run on the other machine; start nothing."
    ),
]
HeadOption = Annotated[
    str,
    typer.Option(
        "--head", metavar="IP:PORT", help="The head of the cluster; by default this appliance."
    ),
]
TokenOption = Annotated[
    Path | None,
    typer.Option(
        "--token-file",
        help="File with the cluster's token; by default cluster/token in the state folder.",
        dir_okay=False,
    ),
]
TrialsOption = Annotated[
    int | None,
    typer.Option(
        "--trials", min=1, help="Trials that the host executes at the same time; one per core."
    ),
]
UndoOption = Annotated[bool, typer.Option("--undo", help="Let the host start trials again.")]
TimeoutOption = Annotated[
    float, typer.Option("--timeout", min=0, help="Seconds to wait for the trials that run.")
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    cluster = make_group(no_args_is_help=True, help="Run trials on several hosts.")
    cluster.command("up")(up)
    cluster.command("add-host")(add_host)
    cluster.command("status")(status)
    cluster.command("drain")(drain)
    cluster.command("down")(down)
    app.add_typer(cluster, name="cluster")


def up(
    address: AddressOption = _LOOPBACK, service_url: ServiceOption = "", json: JsonOption = False
) -> None:
    """Start the head of a cluster on this host; it executes no trials itself.

    Repeating it has no effect. Its token is in cluster/token of the state folder: whoever has it can
    run programs on all hosts. Then add this host and others with `mesocosm cluster add-host`.
    """
    control, settings = _control()
    head = control.start_head(address, service_url or _service_url(settings))
    if json:
        print_json({"head": head.model_dump() | {"endpoint": head.endpoint}})
        return
    say(
        f"The head of the cluster is at {head.endpoint}; trials are recorded by {head.service_url}."
    )
    say("Next: mesocosm cluster add-host, here and with --elsewhere for other machines.")


def add_host(
    name: Name = "",
    elsewhere: ElsewhereOption = False,
    head: HeadOption = "",
    token_file: TokenOption = None,
    trials: TrialsOption = None,
    json: JsonOption = False,
) -> None:
    """Make this appliance a host of a cluster; or print how to add another machine.

    Its machines stay its own, and commands can still use them: the cluster's trials lease them from
    the same ledger. MESOCOSM_MACHINES_MIB limits their memory. The host keeps the settings that this
    command has, such as the model's key. Repeating it has no effect.
    """
    control, settings = _control()
    own = control.files.head()
    if elsewhere:
        _show_commands(_require_reachable(own), name or "NAME", json=json)
        return
    if not head and own is None:
        from foundation.errors import UsageError

        raise UsageError(
            "This appliance is not the head of a cluster.",
            resolution="Start one with `mesocosm cluster up`, or name another one: --head IP:PORT.",
        )
    record = control.start_host(
        name or _own_name(),
        head or (own.endpoint if own else ""),
        token_file or control.files.token,
        trials=trials or os.cpu_count() or 1,
        machines_mib=_machines_mib(settings),
    )
    if json:
        print_json({"host": record.model_dump()})
        return
    say(
        f"{record.name} is a host of the cluster at {record.head}: {record.trials} trials at a time, "
        f"{record.machines_mib} MiB for machines."
    )


def status(json: JsonOption = False) -> None:
    """Show the hosts of the cluster, and what their pools say."""
    control, _ = _control()
    rows, head = control.rows(), control.files.head()
    if json:
        print_json(
            {
                "head": None if head is None else head.model_dump() | {"endpoint": head.endpoint},
                "hosts": [row.to_dict() for row in rows],
            }
        )
        return
    if head is not None:
        say(f"head {head.endpoint}, service {head.service_url}")
    _print_hosts(rows)


def drain(
    name: DrainedName,
    undo: UndoOption = False,
    timeout: TimeoutOption = 3600.0,
    json: JsonOption = False,
) -> None:
    """Let a host start no more trials, and wait until those that run have ended.

    It stays drained when this command is interrupted, until --undo. The exit code is 1 if trials still
    run after --timeout.
    """
    control, _ = _control()
    is_done = control.drain(name, is_drained=not undo, timeout_s=timeout, say=say)
    if json:
        print_json({"host": name, "drained": not undo, "idle": is_done})
    elif undo:
        say(f"{name} starts trials again")
    else:
        say(f"{name} is drained" if is_done else f"{name} is drained, and trials still run there")
    if not is_done:
        raise typer.Exit(1)


def down(json: JsonOption = False) -> None:
    """Stop the host and the head of this appliance; trials that run on them are lost and repeated.

    Machines stay, and are leased to nobody. Other machines' hosts are stopped there.
    """
    control, _ = _control()
    stopped = [role for role in ("host", "head") if control.stop(role)]
    if json:
        print_json({"stopped": stopped})
    else:
        say(f"stopped: {', '.join(stopped) or 'nothing ran'}")


def _control() -> tuple[ClusterControl, Settings]:
    from controller.executors.cluster.control import ClusterControl
    from foundation.settings import get_settings

    settings = get_settings()
    return ClusterControl(settings), settings


def _service_url(settings: Settings) -> str:
    scheme = "http" if settings.service_tls_cert is None else "https"
    return f"{scheme}://{settings.service_address}:{settings.service_port}"


def _own_name() -> str:
    """Return the name of this machine as that of a host."""
    name = re.sub(r"[^a-z0-9-]+", "-", os.uname().nodename.lower()).strip("-")
    return name[:40] or "host"


def _machines_mib(settings: Settings) -> int:
    from provisioning.fleet.allocation import HOST_MIB, budgeted_mib

    return max(0, budgeted_mib(settings.machines_mib)[0] - HOST_MIB)


def _require_reachable(head: HeadRecord | None) -> HeadRecord:
    """Return the head if other machines reach it and its service.

    Raises:
        UsageError: they do not.
    """
    from foundation.errors import UsageError

    resolution = (
        "Start it again: mesocosm cluster down; mesocosm cluster up --address IP --service-url "
        "https://NAME:PORT. The service then needs an address of the network, too "
        "(MESOCOSM_SERVICE_ADDRESS, docs/service.md)."
    )
    if head is None:
        raise UsageError("This appliance is not the head of a cluster.", resolution=resolution)
    if head.address == _LOOPBACK or f"://{_LOOPBACK}:" in head.service_url:
        raise UsageError(
            "Other machines cannot reach this cluster.",
            details=f"Its head is at {head.endpoint}, its service at {head.service_url}.",
            resolution=resolution,
        )
    return head


def _show_commands(head: HeadRecord, name: str, *, json: bool) -> None:
    from controller.executors.cluster.records import ClusterFiles
    from controller.planning import code_version
    from foundation.settings import get_settings

    token = ClusterFiles(get_settings()).token
    copied = "/root/cluster-token"
    commands = [
        f"git checkout {code_version().commit or 'the same version'}",
        "make up UPFLAGS=--no-trial",
        "sh appliance/bringup/venv.sh .venv requirements-ray.lock",
        f"scp {head.address}:{token} {copied}",
        f".venv/bin/mesocosm cluster add-host {name} --head {head.endpoint} --token-file {copied}",
    ]
    if json:
        print_json({"commands": commands})
        return
    say("On the other machine, as root, in a checkout of the project and with the same settings:")
    for command in commands:
        typer.echo(f"  {command}")


def _print_hosts(rows: list[HostRow]) -> None:
    from rich.table import Table

    table = Table()
    for title in (
        "host",
        "state",
        "trials",
        "memory for machines",
        "machines",
        "leases",
        "problem",
    ):
        table.add_column(title)
    for row in rows:
        report = row.report
        table.add_row(
            row.name,
            row.state,
            f"{row.running} of {row.trials}",
            f"{row.free_mib} of {row.machines_mib} MiB free",
            "" if report is None else str(report.machines),
            "" if report is None else str(report.leases),
            "" if report is None else report.problem,
        )
    print_table(table)
