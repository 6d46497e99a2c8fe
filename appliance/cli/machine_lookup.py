"""Find the machine that the command line names, and operate it."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from foundation.errors import MachineError
    from provisioning.fleet.operations import MachineOperations
    from provisioning.handle import HostMachine
    from provisioning.machine_folder import MachineFolder
    from provisioning.machine_record import MachineRecord

_USABLE = ("ready", "kept")
"""States of machines that run and can be used."""


def complete(incomplete: str) -> list[str]:
    """Return the ids of machines that begin with the typed text."""
    from foundation.settings import get_settings
    from provisioning.machine_folder import iter_folders

    ids = [folder.machine_id for folder in iter_folders(get_settings())]
    return [name for name in ids if name.startswith(incomplete)]


MachineArgument = Annotated[
    str, typer.Argument(metavar="MACHINE", help="Id of a machine.", autocompletion=complete)
]


def find_machine(machine: str) -> tuple[MachineFolder, MachineRecord]:
    """Return the machine with an id, or the only one of a kind.

    Raises:
        UnknownNameError: there is no such machine (names the nearest match), or there are several
            of the kind.
        MachineError: there is no machine of the kind.
    """
    from foundation.errors import UnknownNameError

    known = _known()
    for folder, record in known:
        if folder.machine_id == machine:
            return folder, record
    if not _is_kind(machine):
        raise UnknownNameError.of("machine", machine, [folder.machine_id for folder, _ in known])
    of_kind = [row for row in known if row[1].kind == machine]
    if len(of_kind) == 1:
        return of_kind[0]
    if not of_kind:
        raise _none_of(machine, known)
    raise UnknownNameError(
        f"There are {len(of_kind)} machines of the kind {machine}.",
        details=_listed(of_kind),
        resolution="Specify the id of one of them.",
    )


def find_free_machine(machine: str) -> tuple[MachineFolder, MachineRecord]:
    """Return the machine with an id, or one of a kind that is not in use.

    Raises:
        UnknownNameError: there is no such machine; names the nearest match.
        MachineError: no machine of the kind is free, or there is none.
    """
    from foundation.errors import MachineBusyError

    known = _known()
    of_kind = [row for row in known if row[1].kind == machine]
    if len(of_kind) <= 1 or any(folder.machine_id == machine for folder, _ in known):
        return find_machine(machine)
    for folder, record in of_kind:
        if record.state in _USABLE and not folder.is_claimed():
            return folder, record
    raise MachineBusyError(
        f"No {machine} is ready and free.",
        details=_listed(known),
        resolution="Wait until the run that uses it ends (`mesocosm machine list`).",
    )


def _known() -> list[tuple[MachineFolder, MachineRecord]]:
    from foundation.settings import get_settings
    from provisioning.machine_folder import iter_folders

    read = [(folder, folder.read()) for folder in iter_folders(get_settings())]
    return [(folder, record) for folder, record in read if record is not None]


def _is_kind(name: str) -> bool:
    from provisioning.registry import registry

    return name in registry().kinds


def _none_of(kind: str, known: Sequence[tuple[MachineFolder, MachineRecord]]) -> MachineError:
    from foundation.errors import MachineError

    return MachineError(
        f"There is no {kind} on this host.",
        details=_listed(known),
        resolution="Run `mesocosm up` to create the configured machines.",
    )


def _listed(machines: Sequence[tuple[MachineFolder, MachineRecord]]) -> str:
    shown = [f"{folder.machine_id} ({record.kind}, {record.state})" for folder, record in machines]
    return f"Machines: {', '.join(shown) or 'none'}."


def operations() -> MachineOperations:
    """Return the operations on the machines of this host."""
    from foundation.settings import get_settings
    from provisioning.fleet.operations import MachineOperations

    return MachineOperations(get_settings())


@contextlib.contextmanager
def attached(machine: str) -> Iterator[HostMachine]:
    """Claim and start a machine that is not in use, in its current state, for a block.

    Raises:
        UnknownNameError: there is no such machine.
        MachineError: there is no machine of that kind.
        MachineBusyError: the machine, or every machine of that kind, is in use.
    """
    folder, _record = find_free_machine(machine)
    with operations().started(folder.machine_id) as host_machine:
        yield host_machine
