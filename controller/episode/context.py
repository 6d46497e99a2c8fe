"""The context that the trials of a run share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from controller.actions.vocabulary import vocabulary
from controller.episode.runners import make_runners
from controller.observation.settle import SettleRule
from controller.specification.episode import EpisodeSpec
from foundation.clock import SYSTEM_CLOCK
from foundation.files import digest_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from controller.actions.session import SessionState
    from controller.episode.baselines import Baselines
    from controller.episode.end_state import EndStateKeeper
    from controller.observation.observer import Screenshot
    from evaluators.catalogue import Vocabulary
    from evaluators.graph.outcome import WaveRunner
    from evaluators.rendering.keeping import OnRoleView
    from evaluators.rendering.views.any import ViewedDocument
    from foundation.clock import Clock
    from foundation.measures import Name
    from provisioning.lease import Environment, Fleet
    from provisioning.protocols import Element

    MakeRunners = Callable[
        [Environment, SessionState, Vocabulary, OnRoleView | None], Mapping[str, WaveRunner]
    ]


PNG = "image/png"


class Record(Protocol):
    """Records metrics, such as `foundation.measures.record`."""

    def __call__(self, name: Name, value: float = 1.0, **labels: str) -> object:
        """Record one value."""
        ...


class EventSink(Protocol):
    """Records the events of one trial, such as `controller.store.event_log.TrialLog`."""

    folder: Path | None
    """Folder for files of the trial; None stores none."""

    def append(self, type_: str, **fields: Any) -> None:  # noqa: ANN401 - anything JSON has
        """Record one event.

        Raises:
            StoreError: the event cannot be written.
        """
        ...

    def keep(self, shots: dict[str, Screenshot]) -> dict[str, str]:
        """Store screenshots and return their digests by role."""
        ...

    def keep_picture(self, data: bytes, media_type: str = PNG) -> str:
        """Store a picture and return its digest."""
        ...

    def keep_trees(self, trees: Mapping[str, Sequence[Element]]) -> dict[str, str]:
        """Store accessibility trees and return their digests by role."""
        ...

    def keep_view(self, viewed: ViewedDocument) -> str:
        """Store the view of a document and return its digest."""
        ...


class NoLog:
    """An event sink that stores nothing."""

    folder: Path | None = None

    def append(self, type_: str, **fields: Any) -> None:  # noqa: ANN401 - see `EventSink`
        """Discard the event."""

    def keep(self, shots: dict[str, Screenshot]) -> dict[str, str]:
        """Return the digests without storing anything."""
        return {role: shot.digest for role, shot in shots.items()}

    def keep_picture(self, data: bytes, media_type: str = PNG) -> str:
        """Return the digest without storing anything."""
        del media_type
        return digest_bytes(data)

    def keep_trees(self, trees: Mapping[str, Sequence[Element]]) -> dict[str, str]:
        """Return empty digests without storing anything."""
        return dict.fromkeys(trees, "")

    def keep_view(self, viewed: ViewedDocument) -> str:
        """Return an empty digest without storing anything."""
        del viewed
        return ""


def discard_metric(name: Name, value: float = 1.0, **labels: str) -> None:
    """Discard a metric."""


@dataclass(frozen=True, slots=True)
class RunContext:
    """The services that the trials of a run share, and what they are told about the run.

    Attributes:
        fleet: leases the machines.
        spec: what the trials are told about their run.
        make_runners: creates the runners of a trial's evaluators.
        vocabulary: evaluators, actions and setup operations that tasks can use.
        record: records metrics.
        clock: measures and waits.
        rule: when a screen counts as settled.
        baselines: changes made by no-op trials; None if unknown.
        keeper: keeps end states; None keeps none.
    """

    fleet: Fleet
    spec: EpisodeSpec = field(default_factory=EpisodeSpec)
    make_runners: MakeRunners = make_runners
    vocabulary: Vocabulary = field(default_factory=vocabulary)
    record: Record = discard_metric
    clock: Clock = SYSTEM_CLOCK
    rule: SettleRule = field(default_factory=SettleRule)
    baselines: Baselines | None = None
    keeper: EndStateKeeper | None = None
