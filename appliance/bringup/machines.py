"""The appliance's machines as bring-up sees them: make them ready, count them, remove them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from appliance.base.errors import MesocosmError
from appliance.bringup.health import hypervisor_answers
from provisioning.machine_folder import iter_folders

if TYPE_CHECKING:
    from collections.abc import Callable

    from appliance.base.settings import Settings
    from provisioning.fleet.local import LocalFleet


def prepare_machines(settings: Settings, say: Callable[[str], None]) -> str:
    """Make sure that a desktop and a phone with a verified snapshot wait; says so in a few words.

    Args:
        settings: of the appliance.
        say: told in one line what takes long.

    Raises:
        MachineError: one did not come up.
    """
    from provisioning.fleet.local import LocalFleet  # noqa: PLC0415 - imports libvirt and Docker
    from provisioning.protocols import Kind  # noqa: PLC0415

    fleet = LocalFleet(settings, say=say)
    removed = fleet.sweep()
    fleet.prepare(list(Kind))
    if settings.desktop_reset == "fork":
        fleet.fill(Kind.DESKTOP).join()
    summary = describe(count_machines(settings))
    return f"{summary}; removed: {'; '.join(removed)}" if removed else summary


def count_machines(settings: Settings) -> dict[tuple[str, str], int]:
    """Count machines by kind and state, as their records say."""
    records = [folder.read() for folder in iter_folders(settings)]
    return dict(
        Counter((str(record.kind), str(record.state)) for record in records if record is not None)
    )


def sweep_orphans(settings: Settings) -> list[str]:
    """Remove what killed processes left half-made or broken; whole machines stay.

    Works in the controller's container too, where the host's recipes cannot be judged.

    Raises:
        MesocosmError: the hypervisor or docker does not answer.
    """
    from provisioning.fleet.local import LocalFleet  # noqa: PLC0415 - imports libvirt and Docker

    return LocalFleet(settings, judges_images=False).sweep()


def try_sweep(settings: Settings) -> str:
    """Remove what killed processes left, and return what was done, a line; machines' hosts may be silent."""
    try:
        return f"Orphans removed: {'; '.join(sweep_orphans(settings)) or 'none'}"
    except MesocosmError as exc:
        return f"Orphans were not swept: {exc.brief}"


def remove_machines(settings: Settings) -> list[str]:
    """Stop and remove every machine, also those in use; gives their ids.

    Where the hypervisor does not answer no VM can be asked to end: its folder goes here, and it
    ends with the hypervisor's container.
    """
    return _reachable_fleet(settings).remove_all()


def stop_machines(settings: Settings) -> list[str]:
    """Stop every machine, also those in use, and keep what was saved; gives their ids.

    The next bring-up starts them from their snapshots, without a boot.
    """
    return _reachable_fleet(settings).stop_all()


def _reachable_fleet(settings: Settings) -> LocalFleet:
    from provisioning.fleet.host_backends import host_backends  # noqa: PLC0415 - imports libvirt and Docker
    from provisioning.fleet.local import LocalFleet  # noqa: PLC0415

    without = () if hypervisor_answers(settings) else ("vm",)
    return LocalFleet(settings, host_backends(settings, without=without))


def describe(counts: dict[tuple[str, str], int]) -> str:
    """Return machine counts as text, such as ``1 desktop ready, 1 phone ready``."""
    rows = [f"{count} {kind} {state}" for (kind, state), count in sorted(counts.items())]
    return ", ".join(rows) or "none"
