"""What all trials of a run share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from controller.observation.settle import SettleRule

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from appliance.base.clock import Clock
    from appliance.base.measures import Name
    from controller.actions.session import SessionState
    from controller.agents.protocol import MakeAgent
    from evaluators.graph.outcome import WaveRunner
    from provisioning.fleet.protocol import Environment, Fleet

    MakeRunners = Callable[[Environment, SessionState], Mapping[str, WaveRunner]]


class Record(Protocol):
    """Takes measures, as `appliance.base.measures.record` does."""

    def __call__(self, name: Name, value: float = 1.0, **labels: str) -> object:
        """Take one."""
        ...


@dataclass(frozen=True, slots=True)
class Stage:
    """What all trials of a run share.

    Attributes:
        suite: its name, a label of measures.
        agent: its name, a label of measures.
        fleet: gives the machines.
        make_agent: makes the agent of a trial.
        make_runners: makes the runners of a trial's evaluators.
        record: takes measures.
        clock: whose time counts.
        rule: when a screen counts as still.
        with_trees: observations hold the machines' accessibility trees too.
        video_hz: how often a second screens are recorded; 0 records none.
    """

    suite: str
    agent: str
    fleet: Fleet
    make_agent: MakeAgent
    make_runners: MakeRunners
    record: Record
    clock: Clock
    rule: SettleRule = field(default_factory=SettleRule)
    with_trees: bool = False
    video_hz: float = 0.0
