"""Shared fixtures of the controller's tests: fake machines, a fake clock, one call to run a trial."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from controller.actions.space import Action
from controller.actions.vocabulary import vocabulary
from controller.agents.driver import AgentDriver
from controller.agents.oracle import OracleDriver
from controller.episode.context import RunContext
from controller.episode.episode import Episode
from controller.episode.trial import run_trial
from controller.protocol import Turn
from controller.specification.agent import MEMBER
from controller.specification.episode import EpisodeSpec, TeamMember
from controller.specification.observation import ObservationSpec
from controller.specification.run import ActionSpec
from controller.store.event_log import TrialLog, read_events
from evaluators.model.task import Task
from foundation.cancel import CancelToken
from foundation.clock import FakeClock
from provisioning.fake import FakeFleet

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from controller.episode.baselines import Baselines
    from controller.episode.result import TrialResult
    from controller.episode.trial import Driver
    from controller.observation.observer import Observation
    from controller.protocol import Agent, AgentContext, MakeAgent
    from evaluators.catalogue import Vocabulary
    from provisioning.lease import Fleet

SET_DARK = "gsettings set org.gnome.desktop.interface color-scheme prefer-dark"
DARK = {"schema": "org.gnome.desktop.interface", "key": "color-scheme", "value": "prefer-dark"}


class Scripted:
    """Plays turns, raises or calls other items of the list, and completes at the end."""

    def __init__(self, *moves: Turn | Action | BaseException | Callable[[], None]) -> None:
        self._moves = list(moves)
        self.seen: list[Observation] = []

    def __call__(self, context: AgentContext, /) -> Agent:
        return self

    def act(self, observation: Observation) -> Turn:
        self.seen.append(observation)
        if not self._moves:
            return Turn((Action("complete"),))
        match self._moves.pop(0):
            case Turn() as turn:
                return turn
            case Action() as action:
                return Turn((action,))
            case BaseException() as error:
                raise error
            case call:
                call()
                return self.act(observation)


@dataclass
class Bench:
    """Runs trials in sequence on the same fleet."""

    folder: Path
    clock: FakeClock = field(default_factory=FakeClock)
    measures: list[tuple[str, float, dict[str, str]]] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    episode: Episode | None = None
    cancel: CancelToken = field(default_factory=CancelToken)
    with_trees: bool = False
    observation: ObservationSpec = field(default_factory=ObservationSpec)
    functions: Vocabulary | None = None
    recording_hz: float = 0.0
    baselines: Baselines | None = None
    actions: ActionSpec = field(default_factory=ActionSpec)
    feedback: Literal["none", "hints", "nodes"] = "none"
    members: Mapping[str, TeamMember] = field(default_factory=lambda: {MEMBER: TeamMember("test")})

    def __post_init__(self) -> None:
        self.fakes = FakeFleet(self.clock)
        self.fleet: Fleet = self.fakes

    def record(self, name: str, value: float = 1.0, **labels: str) -> bool:
        self.measures.append((name, value, labels))
        return True

    @property
    def context(self) -> RunContext:
        return RunContext(
            self.fleet,
            EpisodeSpec(
                suite="tiny",
                members=dict(self.members),
                observation=self.observation.with_parts(
                    trees=self.with_trees, feedback=self.feedback
                ),
                actions=self.actions,
                recording_hz=self.recording_hz,
            ),
            vocabulary=self.functions or vocabulary(),
            record=self.record,
            clock=self.clock,
            baselines=self.baselines,
        )

    def run(self, task: Task, make_agent: MakeAgent) -> TrialResult:
        """Run a trial of an agent."""
        return self.drive(task, AgentDriver(make_agent))

    def play(self, task: Task) -> TrialResult:
        """Run a trial of the task's reference solution."""
        return self.drive(task, OracleDriver())

    def drive(self, task: Task, driver: Driver) -> TrialResult:
        number = len(list(self.folder.glob("trial*")))
        path = self.folder / f"trial{number}"
        with TrialLog(path, self.folder / "blobs", self.clock) as log:
            self.episode = Episode(self.context, log=log, cancel=self.cancel)
            result = run_trial(self.episode, task, driver)
        self.events = list(read_events(log.path))
        assert self.fakes.leased == 0
        assert self.events[-1]["type"] in {"end", "return_error"}
        return result


def make_task(**changes: object) -> Task:
    """Create the task of switching the desktop to dark style."""
    return Task.model_validate(
        {
            "id": "dark",
            "instruction": "Switch the desktop to dark style.",
            "roles": {"desktop": "desktop"},
            "graph": [{"id": "dark", "on": "desktop", "check": "gsetting_equals", "with": DARK}],
            "limits": {"steps": 5, "seconds": 60.0, "repetitions": 3, "invalid_actions": 3},
            "oracle": [
                {"on": "desktop", "do": "open_app", "with": {"name": "Terminal"}},
                {"on": "desktop", "do": "type_text", "with": {"text": f"{SET_DARK}\n"}},
            ],
            **changes,
        }
    )
