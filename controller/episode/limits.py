"""Enforce a task's limits: steps, time, tokens, cost, repetition, rejected actions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from controller.episode.result import Ending, MemberShare, Reason
from controller.models.usage import NO_USAGE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.actions.space import Action
    from controller.models.usage import Usage
    from evaluators.model.task import Limits
    from foundation.clock import Clock

_WAIT = "wait"
_WALL_FACTOR = 10.0
_MIN_WALL_S = 1800.0
_WAITED_SHARE = 0.5


def wall_limit_s(limits: Limits) -> float:
    """Return the maximum wall time of a trial after its first observation, seconds."""
    return limits.wall_seconds or max(_MIN_WALL_S, _WALL_FACTOR * limits.seconds)


class Budget:
    """One trial's usage of its limits, starting with its first observation.

    Args:
        limits: limits of the task.
        clock: measures the wall time, starting now.

    Attributes:
        steps: number of executed actions.
        turns: number of turns of all members.
        waited_s: total time of the agent's wait actions.
        members: usage, time and steps of each member that took part, by its name. The limits apply
            to all members together.
    """

    def __init__(self, limits: Limits, clock: Clock) -> None:
        self._limits = limits
        self._clock = clock
        self._wall_s = wall_limit_s(limits)
        self._wall_deadline_s = clock.monotonic_s() + self._wall_s
        self._refused = 0
        self._repeated = 0
        self._last: Action | None = None
        self._completed = 0
        self._progress_at = 0
        self.steps = 0
        self.turns = 0
        self.waited_s = 0.0
        self.members: dict[str, MemberShare] = {}

    @property
    def usage(self) -> Usage:
        """Usage of the models of all members."""
        return sum((share.usage for share in self.members.values()), NO_USAGE)

    @property
    def agent_s(self) -> float:
        """Time charged to all members, seconds."""
        return sum(share.agent_seconds for share in self.members.values())

    @property
    def agent_left_s(self) -> float:
        """Remaining agent time, seconds; may be negative."""
        return self._limits.seconds - self.agent_s

    @property
    def wall_left_s(self) -> float:
        """Remaining wall time, seconds; may be negative."""
        return self._wall_deadline_s - self._clock.monotonic_s()

    def charge(self, member: str, seconds: float, usage: Usage) -> None:
        """Charge one turn of a member.

        Args:
            member: its name.
            seconds: its own time, without outages of its model.
            usage: usage of its model.
        """
        self.turns += 1
        share = self.members.get(member, MemberShare())
        total_s = share.agent_seconds + max(0.0, seconds)
        self.members[member] = replace(
            share, usage=share.usage + usage, agent_seconds=total_s, turns=share.turns + 1
        )

    def exclude(self, seconds: float) -> None:
        """Extend the wall time by a wait that is nobody's, such as for a person's approval."""
        self._wall_deadline_s += seconds

    def spent(self) -> Ending | None:
        """Return the ending for an exhausted limit of time, tokens or cost; None if there is none."""
        limits = self._limits
        if self.agent_left_s <= 0:
            return Ending(Reason.TIME_LIMIT, f"The agent used its {limits.seconds:g} s.")
        if limits.tokens is not None and self.usage.total > limits.tokens:
            return Ending(Reason.TOKEN_LIMIT, f"The model used {self.usage.total} tokens.")
        if limits.usd is not None and self.usage.usd > limits.usd:
            return Ending(Reason.MONEY_LIMIT, f"The model cost {self.usage.usd:.4f} USD.")
        if self.wall_left_s <= 0:
            return self.too_long(f"The trial took {self._wall_s:g} s.")
        return None

    def last_turn(self) -> Ending | None:
        """Return the ending if the turn that is over was the last one that the limit allows."""
        limit = self._limits.turns
        if limit is None or self.turns < limit:
            return None
        return Ending(Reason.STEP_LIMIT, f"{self.turns} turn{'s' * (self.turns != 1)} were taken.")

    def too_long(self, detail: str) -> Ending:
        """Return the ending of a trial that exceeded its wall time.

        It is attributed to the agent if its wait actions took at least half of that time.
        """
        if self.waited_s < _WAITED_SHARE * self._wall_s:
            return Ending(Reason.WALL_LIMIT, detail)
        return Ending(
            Reason.TIME_LIMIT, f"{detail} The agent's wait actions took {self.waited_s:g} s of it."
        )

    def credit(self, member: str, nodes: Sequence[str]) -> None:
        """Note the nodes that a member's action met."""
        share = self.members.get(member, MemberShare())
        self.members[member] = replace(share, met=(*share.met, *nodes))

    def count_refusal(self, member: str, code: str, message: str) -> Ending | None:
        """Count a rejected action; return the ending if the limit is reached.

        Args:
            member: name of the member that chose it.
            code: what kind of rejection it is; see `MemberShare.refused`.
            message: what the member is told.
        """
        self._refused += 1
        share = self.members.get(member, MemberShare())
        refused = {**share.refused, code: share.refused.get(code, 0) + 1}
        self.members[member] = replace(share, refused=refused)
        if self._refused < self._limits.invalid_actions:
            return None
        return Ending(
            Reason.INVALID_ACTION, f"{self._refused} consecutive rejected actions; last: {message}"
        )

    def count_action(self, member: str, action: Action, *, has_changed: bool) -> None:
        """Count an executed action, before its effect is evaluated.

        Args:
            member: name of the member that chose it.
            action: the executed action.
            has_changed: whether any screen has changed.
        """
        self.steps += 1
        share = self.members.get(member, MemberShare())
        self.members[member] = replace(share, steps=share.steps + 1)
        self._refused = 0
        if action.do == _WAIT:
            self.waited_s += float(str(action.args.get("seconds", 0.0)))
        # Repeated waiting does not count as repetition.
        is_same = action == self._last and action.do != _WAIT
        self._repeated = self._repeated + 1 if is_same and not has_changed else 1
        self._last = action

    def count_tool(self, member: str, *, is_distractor: bool) -> None:
        """Count an executed action that called a tool server.

        Args:
            member: name of the member that chose it.
            is_distractor: whether the task declares the server useless.
        """
        share = self.members[member]
        self.members[member] = replace(
            share,
            tool_calls=share.tool_calls + 1,
            distractor_calls=share.distractor_calls + is_distractor,
        )

    def count_progress(self, completed: int) -> None:
        """Note how many subtasks are completed after the last action.

        Args:
            completed: number of completed subtasks, or of met nodes where the task has no subtasks.
        """
        if completed > self._completed:
            self._completed, self._progress_at = completed, self.steps

    def exhausted_limit(self) -> Ending | None:
        """Return the ending after the last evaluated action; None if another one is allowed."""
        if self._repeated >= self._limits.repetitions:
            return Ending(
                Reason.REPETITION_LIMIT,
                f"The same action {self._repeated} times without any change.",
            )
        if self.steps >= self._limits.steps:
            return Ending(
                Reason.STEP_LIMIT,
                f"{self.steps} step{'s were' if self.steps != 1 else ' was'} executed.",
            )
        most = self._limits.stalled_steps
        if most is not None and self.steps - self._progress_at >= most:
            what = "since a subtask was last completed" if self._completed else "without progress"
            return Ending(Reason.STALLED_LIMIT, f"{most} steps {what}.")
        return self.spent()
