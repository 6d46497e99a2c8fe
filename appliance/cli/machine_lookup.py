"""Find the machine that a command line names, and hold it while a command works on it."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from provisioning.fleet.handle import HostMachine
    from provisioning.machine_folder import MachineFolder, MachineRecord


def complete(incomplete: str) -> list[str]:
    """Return the ids of machines that begin with what was typed."""
    from appliance.base.settings import get_settings
    from provisioning.machine_folder import iter_folders

    ids = [folder.machine_id for folder in iter_folders(get_settings())]
    return [name for name in ids if name.startswith(incomplete)]


MachineArgument = Annotated[
    str, typer.Argument(metavar="MACHINE", help="Id of a machine.", autocompletion=complete)
]


def find_machine(machine: str) -> tuple[MachineFolder, MachineRecord]:
    """Return the machine of an id, or the only one of a kind.

    Raises:
        UnknownNameError: there is none, with the nearest match.
    """
    from appliance.base.errors import UnknownNameError
    from appliance.base.settings import get_settings
    from provisioning.machine_folder import iter_folders

    known = [(folder, folder.read()) for folder in iter_folders(get_settings())]
    of_kind = [(one, record) for one, record in known if record and record.kind == machine]
    by_id = [(one, record) for one, record in known if record and one.machine_id == machine]
    for folder, record in by_id or (of_kind if len(of_kind) == 1 else []):
        return folder, record
    raise UnknownNameError.of("machine", machine, [folder.machine_id for folder, _ in known])


@contextlib.contextmanager
def held(folder: MachineFolder) -> Iterator[None]:
    """Claim a machine for a block.

    Raises:
        MachineBusyError: somebody uses it.
    """
    claim = folder.require_claim()
    try:
        yield
    finally:
        claim.release()


@contextlib.contextmanager
def attached(machine: str) -> Iterator[HostMachine]:
    """Hold a machine that nobody uses, started and as it is, for the length of a block.

    Raises:
        UnknownNameError: there is no such machine.
        MachineBusyError: somebody uses it.
    """
    from appliance.base.settings import get_settings
    from provisioning.fleet.host_backends import host_backends

    folder, record = find_machine(machine)
    with held(folder):
        found = host_backends(get_settings())[record.kind].attach(folder, record)
        found.power.start()
        try:
            yield found
        finally:
            found.release()
