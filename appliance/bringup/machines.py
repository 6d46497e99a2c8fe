"""Prepare, count and remove the appliance's machines for bring-up."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from appliance.services.health import hypervisor_answers
from foundation.errors import MesocosmError
from provisioning.machine_folder import iter_folders

if TYPE_CHECKING:
    from collections.abc import Callable

    from foundation.settings import Settings
    from provisioning.fleet.local import LocalFleet


def prepare_machines(settings: Settings, say: Callable[[str], None]) -> str:
    """Ensure that a desktop and a phone with a verified snapshot are ready; return a summary.

    Args:
        settings: of the appliance.
        say: called with a one-line message about anything that takes long.

    Raises:
        MachineError: a machine did not start.
    """
    from provisioning.fleet.local import LocalFleet  # noqa: PLC0415 - imports libvirt and Docker
    from provisioning.fleet.reset_choice import forks_first  # noqa: PLC0415
    from provisioning.registry import KINDS  # noqa: PLC0415
    from provisioning.resource import DESKTOP, ResourceSpec  # noqa: PLC0415

    fleet = LocalFleet(settings, say=say)
    removed = fleet.sweep()
    fleet.prepare([ResourceSpec(kind.name) for kind in KINDS if not kind.is_on_request])
    if forks_first(settings):
        fleet.fill(ResourceSpec(DESKTOP)).join()
    summary = describe(count_machines(settings))
    return f"{summary}; removed: {'; '.join(removed)}" if removed else summary


def count_machines(settings: Settings) -> dict[tuple[str, str], int]:
    """Count machines by kind and state, according to their records."""
    records = [folder.read() for folder in iter_folders(settings)]
    return dict(
        Counter((str(record.kind), str(record.state)) for record in records if record is not None)
    )


def sweep_orphans(settings: Settings) -> list[str]:
    """Remove incomplete or broken machines that killed processes left; intact ones are kept.

    Also works in the controller's container, where the host's recipes cannot be checked.

    Raises:
        MesocosmError: the hypervisor or docker does not answer.
    """
    from provisioning.fleet.local import LocalFleet  # noqa: PLC0415 - imports libvirt and Docker

    return LocalFleet(settings, judges_images=False).sweep()


def try_sweep(settings: Settings) -> str:
    """Sweep orphans and return a line on the result; never raises if a backend does not answer."""
    try:
        return f"Orphans removed: {'; '.join(sweep_orphans(settings)) or 'none'}"
    except MesocosmError as exc:
        return f"Orphans were not removed: {exc.brief}"


def remove_machines(settings: Settings) -> list[str]:
    """Stop and remove every machine, including those in use; return their ids.

    If the hypervisor does not answer, VMs cannot be stopped: their folders are removed, and they
    end with the hypervisor's container.
    """
    return _reachable_fleet(settings).remove_all()


def stop_machines(settings: Settings) -> list[str]:
    """Stop every machine, including those in use, but keep their snapshots; return their ids.

    The next bring-up starts them from their snapshots, without a boot.
    """
    return _reachable_fleet(settings).stop_all()


def _reachable_fleet(settings: Settings) -> LocalFleet:
    from provisioning.fleet.host_backends import HostBackends  # noqa: PLC0415 - imports libvirt and Docker
    from provisioning.fleet.local import LocalFleet  # noqa: PLC0415

    without = () if hypervisor_answers(settings) else ("vm",)
    return LocalFleet(settings, HostBackends(settings, without=without))


def describe(counts: dict[tuple[str, str], int]) -> str:
    """Return machine counts as text, such as ``1 desktop ready, 1 phone ready``."""
    rows = [f"{count} {kind} {state}" for (kind, state), count in sorted(counts.items())]
    return ", ".join(rows) or "none"
