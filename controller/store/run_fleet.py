"""Determine a run's fleet: this appliance's machines, or in-memory ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from controller.episode.result import TrialResult
    from controller.specification.run import FleetName, RunSpec

_FAKE = "fake"
_NONE = "none"


def fleet_of(spec: RunSpec, results: Iterable[TrialResult]) -> FleetName:
    """Return the recorded fleet of a run, or else that of its trials; empty if none had machines.

    Args:
        spec: the run's specification.
        results: results of its trials.
    """
    if spec.fleet:
        return spec.fleet
    backends = {machine.backend for result in results for machine in result.machines}
    if not backends:
        return ""
    return "fake" if _FAKE in backends else "real"


def accelerators_of(results: Iterable[TrialResult]) -> frozenset[str]:
    """Return the accelerators of the trials' virtual machines; empty if there were none."""
    names = {machine.accelerator for result in results for machine in result.machines}
    return frozenset(names - {_NONE})
