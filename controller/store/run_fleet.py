"""Whose machines a run is on: this appliance's, or machines in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from controller.episode.result import TrialResult
    from controller.store.spec import FleetName, RunSpec

_FAKE = "fake"
_NONE = "none"


def fleet_of(spec: RunSpec, results: Iterable[TrialResult]) -> FleetName:
    """Return the fleet of a run: as it recorded, else by its trials; empty where none had machines.

    Args:
        spec: of the run.
        results: of its trials.
    """
    if spec.fleet:
        return spec.fleet
    backends = {machine.backend for result in results for machine in result.machines}
    if not backends:
        return ""
    return "fake" if _FAKE in backends else "real"


def accelerators_of(results: Iterable[TrialResult]) -> frozenset[str]:
    """Return what the virtual machines of trials ran under; empty where there were none."""
    names = {machine.accelerator for result in results for machine in result.machines}
    return frozenset(names - {_NONE})
