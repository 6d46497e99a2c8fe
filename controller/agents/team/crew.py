"""The members of one trial's team: created when they are first needed, asked in turn."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from controller.agents.team.member import MemberAgent, part_of, seen_by
from controller.agents.team.prompts import prompt_of
from controller.agents.team.tools import split_actions

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from controller.actions.space import Action
    from controller.agents.agent_calls import AgentCalls
    from controller.episode.episode import Episode
    from controller.episode.step import Step
    from controller.models.settings import ModelSettings
    from controller.observation.observer import Observation
    from controller.observation.results import ActionResult
    from controller.protocol import Agent, AgentContext, Turn
    from controller.specification.team import Calls, TeamSpec
    from evaluators.schema import Tool

    Extra = Mapping[str, Mapping[str, Tool]]
    MakeMember = Callable[[AgentContext, ModelSettings, Calls], "A"]

A = TypeVar("A", bound="Agent")


@dataclass(slots=True)
class _Post:
    """What the team knows of a member in this trial."""

    agent: Agent
    context: AgentContext
    sees: frozenset[str]
    done: int = 0
    feedback: str = ""
    lines: list[str] = field(default_factory=list)
    results: tuple[ActionResult, ...] = ()


@dataclass(frozen=True, slots=True)
class Said:
    """A member's turn, parted.

    Attributes:
        turn: the turn, with its actions on machines and session.
        messages: to whom it speaks, and what it says.
        skips: whether it chose to do nothing.
    """

    turn: Turn
    messages: tuple[tuple[str, str], ...]
    skips: bool


class Crew:
    """The members of a team in one trial.

    Args:
        team: how they work together.
        models: settings of each member's model.
        episode: the trial.
        calls: calls them within its limits.
    """

    def __init__(
        self,
        team: TeamSpec,
        models: Mapping[str, ModelSettings],
        episode: Episode,
        calls: AgentCalls,
    ) -> None:
        self._team = team
        self._models = models
        self._episode = episode
        self._calls = calls
        self._posts: dict[str, _Post] = {}
        self._steps = 0
        self.context = episode.agent_context()

    @property
    def machines(self) -> tuple[str, ...]:
        """Roles of the trial's machines."""
        return tuple(role for role in self.context.space.tools if role != "session")

    def join(
        self,
        name: str,
        *,
        sees: Collection[str],
        acts: Collection[str],
        more: Extra | None = None,
    ) -> None:
        """Create a member.

        Args:
            name: its name.
            sees: roles of the machines whose screens it sees.
            acts: roles, and ``session``, whose actions it has.
            more: further actions.
        """
        context = part_of(self.context, acts, more or {})

        def make(context: AgentContext) -> Agent:
            prompt = prompt_of(self._team.structure, name)
            return MemberAgent(context, self._models[name], system=prompt, calls=self._team.calls)

        agent = self._calls.create(make, context, name)
        self._posts[name] = _Post(agent, context, frozenset(sees))

    def create(self, name: str, make: MakeMember[A], context: AgentContext) -> A:
        """Create an agent of another class.

        Args:
            name: its name.
            make: creates it from its context and the settings of its model.
            context: what it receives.
        """
        made: list[A] = []

        def create(context: AgentContext) -> Agent:
            made.append(make(context, self._models[name], self._team.calls))
            return made[0]

        agent = self._calls.create(create, context, name)
        sees = self.machines
        self._posts[name] = _Post(agent, context, frozenset(sees))
        return made[0]

    def inform(self, name: str, line: str) -> None:
        """Note a line that a member gets with its next observation."""
        self._posts[name].lines.append(line)

    def ask(self, name: str, observation: Observation) -> Said:
        """Ask a member for a turn; raises like `AgentCalls.turn`."""
        post = self._posts[name]
        lines = (*(observation.progress if post.sees else ()), *post.lines)
        seen = seen_by(
            observation,
            post.sees,
            step=post.done,
            feedback=post.feedback,
            lines=lines,
            results=post.results,
        )
        post.lines, post.feedback, post.results = [], "", ()
        turn = self._calls.turn(post.agent, seen, post.context.diary, name)
        actions, messages, skips = split_actions(turn.actions)
        pairs = tuple((str(row.args["member"]), str(row.args["message"])) for row in messages)
        return Said(replace(turn, actions=actions), pairs, skips)

    def act(self, name: str, said: Said) -> Step:
        """Carry out a member's actions."""
        step = self._episode.step(said.turn, member=name)
        self._settle(name, step, step.observation.step - self._steps)
        self._steps = step.observation.step
        self._posts[name].results = step.observation.results
        return step

    def consult(
        self,
        name: str,
        said: Said,
        *,
        fault: str = "",
        about: Mapping[str, object],
        seconds: float | None = None,
    ) -> Step:
        """Count a member's turn that acts on nothing.

        Args:
            name: its name.
            said: its turn.
            fault: what is wrong with it; empty if nothing is.
            about: fields of the log's line.
            seconds: how long it took, if it was asked within another one's turn.
        """
        self._episode.note(self._posts[name].context.diary.take(), member=name)
        turn = replace(said.turn, actions=(), fault=said.turn.fault or fault)
        step = self._episode.consult(turn, member=name, about=about, seconds=seconds)
        self._settle(name, step, 0 if step.feedback else len(said.messages))
        return step

    def _settle(self, name: str, step: Step, done: int) -> None:
        post = self._posts[name]
        post.feedback = step.feedback
        post.done += done


def describe_actions(actions: Collection[Action]) -> str:
    """Return what was done, for other members."""
    rows = []
    for action in actions:
        args = ", ".join(f"{name}={value!r}" for name, value in action.args.items())
        rows.append(f"{action.do}({args})")
    return ", ".join(rows) or "nothing"
