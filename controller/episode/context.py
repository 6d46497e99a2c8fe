"""What the trials of a run share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from appliance.base.clock import SYSTEM_CLOCK
from controller.actions.vocabulary import vocabulary
from controller.episode.runners import make_runners
from controller.observation.settle import SettleRule

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from appliance.base.clock import Clock
    from appliance.base.measures import Name
    from controller.actions.session import SessionState
    from controller.episode.baselines import Baselines
    from controller.episode.end_state import EndStateKeeper
    from controller.observation.observer import Shot
    from evaluators.catalogue import Vocabulary
    from evaluators.graph.outcome import WaveRunner
    from provisioning.fleet.protocol import Environment, Fleet
    from provisioning.protocols import Element

    MakeRunners = Callable[[Environment, SessionState, Vocabulary], Mapping[str, WaveRunner]]


class Record(Protocol):
    """Takes metrics, as `appliance.base.measures.record` does."""

    def __call__(self, name: Name, value: float = 1.0, **labels: str) -> object:
        """Take one value."""
        ...


class EventSink(Protocol):
    """Takes the events of one trial, as `controller.store.event_log.TrialLog` does."""

    folder: Path | None
    """Where files that belong to the trial go; None keeps none."""

    def append(self, type_: str, **fields: Any) -> None:  # noqa: ANN401 - anything JSON has
        """Take one event.

        Raises:
            StoreError: it cannot be written.
        """
        ...

    def keep(self, shots: dict[str, Shot]) -> dict[str, str]:
        """Keep screenshots and return their digests by role."""
        ...

    def keep_trees(self, trees: Mapping[str, Sequence[Element]]) -> dict[str, str]:
        """Keep accessibility trees and return their digests by role."""
        ...


class NoLog:
    """An event sink that keeps nothing."""

    folder: Path | None = None

    def append(self, type_: str, **fields: Any) -> None:  # noqa: ANN401 - see `EventSink`
        """Drop it."""

    def keep(self, shots: dict[str, Shot]) -> dict[str, str]:
        """Return the digests and keep nothing."""
        return {role: shot.digest for role, shot in shots.items()}

    def keep_trees(self, trees: Mapping[str, Sequence[Element]]) -> dict[str, str]:
        """Return no digests and keep nothing."""
        return dict.fromkeys(trees, "")


def no_metrics(name: Name, value: float = 1.0, **labels: str) -> None:
    """Drop a metric."""


@dataclass(frozen=True, slots=True)
class RunContext:
    """What the trials of a run share.

    Attributes:
        fleet: lends the machines.
        suite: its name, a label of metrics.
        agent: its name, a label of metrics.
        model: name of the model that it asks, a label of metrics; empty for none.
        code: which Mesocosm runs them; logs say it.
        make_runners: makes the runners of a trial's evaluators.
        vocabulary: evaluators, actions and setup operations that tasks may name.
        record: takes metrics.
        clock: measures and waits.
        rule: when a screen counts as settled.
        with_trees: observations hold the machines' accessibility trees too.
        feedback: what agents are told of how far they are: ``none``, ``hints`` or ``nodes``.
        video_hz: frames a second recorded of each screen; 0 records none.
        baselines: what no-op trials change; None does not know.
        keeper: keeps end states; None keeps none.
        is_noop: whether the agent does nothing, so that its trials are baselines.
    """

    fleet: Fleet
    suite: str = ""
    agent: str = ""
    model: str = ""
    code: str = ""
    make_runners: MakeRunners = make_runners
    vocabulary: Vocabulary = field(default_factory=vocabulary)
    record: Record = no_metrics
    clock: Clock = SYSTEM_CLOCK
    rule: SettleRule = field(default_factory=SettleRule)
    with_trees: bool = False
    feedback: str = "none"
    video_hz: float = 0.0
    baselines: Baselines | None = None
    keeper: EndStateKeeper | None = None
    is_noop: bool = False
