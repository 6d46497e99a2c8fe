"""The live object of a trial; a driver chooses its actions."""

from __future__ import annotations

import logging
from enum import Enum, auto
from typing import TYPE_CHECKING, Self

from controller.episode.conclusion import Conclusion
from controller.episode.context import NoLog
from controller.episode.faults import ending_of, ending_of_setup, ending_of_start, message_of
from controller.episode.machines import TrialMachines
from controller.episode.preparation import prepare
from controller.episode.result import Ending, Reason
from controller.episode.step import OracleContext, Step
from controller.models.usage import NO_USAGE, usage_of
from controller.observation.environments import describe_environments
from controller.protocol import AgentContext, Turn
from evaluators.parameters.binding import bind_task
from foundation.cancel import CancellableClock, CancelToken
from foundation.errors import (
    AgentError,
    EpisodeStartError,
    EpisodeUseError,
    MesocosmError,
    SpecError,
    StoreError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from types import TracebackType

    from controller.actions.space import Action
    from controller.diary import Entry
    from controller.episode.context import EventSink, RunContext
    from controller.episode.live import LiveTrial
    from controller.episode.result import TrialResult
    from controller.episode.step import Evaluation
    from controller.observation.observer import Observation
    from evaluators.model.task import Task

_LOG = logging.getLogger(__name__)


class _Phase(Enum):
    NEW = auto()
    LEASE = auto()
    SETUP = auto()
    START = auto()
    STEP = auto()
    OVER = auto()


class Episode:
    """One attempt at one task; use it once.

    `reset` leases and prepares the machines, `step` executes one turn, `close` releases the
    machines and returns the result. Faults of agents, machines and evaluators end the trial with a
    reason; `step` does not raise them.

    Args:
        context: the context that it shares with other trials.
        log: records every step; nothing is stored by default.
        repeat: number of the repetition, from 0.
        cancel: ends the trial from another thread.
        on_step: called after each turn with the number of executed actions.
    """

    def __init__(
        self,
        context: RunContext,
        *,
        log: EventSink | None = None,
        repeat: int = 0,
        cancel: CancelToken | None = None,
        on_step: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._context = context
        self._log: EventSink = NoLog() if log is None else log
        self._repeat = repeat
        self._on_step = on_step
        self._phase = _Phase.NEW
        self._seed = 0
        self._shown_s = 0.0
        self._live: LiveTrial | None = None
        self._conclusion: Conclusion | None = None
        self._result: TrialResult | None = None
        self._ending = Ending(Reason.CANCELLED)
        self._is_kept = False
        self.cancel = CancelToken() if cancel is None else cancel
        self._clock = CancellableClock(context.clock, self.cancel)
        self._machines = TrialMachines(context, self._log, self._clock)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, KeyboardInterrupt):
            self.cancel.cancel("Interrupted.")
        if error is not None and not isinstance(error, (Exception, KeyboardInterrupt)):
            if self._live is not None:
                self._live.close()
            self._machines.release()  # the process exits: the trial stays unfinished for resume
        elif self._conclusion is not None:
            self.close()

    @property
    def is_over(self) -> bool:
        """Whether the trial has ended; `close` returns its result."""
        return self._phase is _Phase.OVER

    @property
    def machine_ids(self) -> tuple[str, ...]:
        """Ids of the machines that the trial leased; empty before it has any."""
        machines = self._conclusion.machines if self._conclusion else ()
        return tuple(machine.machine_id for machine in machines)

    def reset(self, task: Task, seed: int = 0) -> Observation:
        """Lease and prepare the machines and return the first observation.

        Args:
            task: the task.
            seed: seed for randomized agents.

        Raises:
            EpisodeStartError: the trial ended before it started; `close` returns its result.
            EpisodeUseError: the episode has already been reset.
            StoreError: the log cannot be written.
        """
        if self._phase is not _Phase.NEW:
            raise EpisodeUseError(
                "This episode has already been reset.",
                resolution="Create a new Episode for each trial.",
            )
        self._phase, self._seed = _Phase.LEASE, seed
        self._conclusion = Conclusion(task, self._repeat, self._clock.monotonic_s())
        try:
            bound = self._bind(task)
            self.cancel.check()
            started = bound if isinstance(bound, Ending) else self._start(bound, self._open(bound))
        except StoreError:
            raise
        except Exception as exc:  # noqa: BLE001 - the trial's boundary
            started = self._ending_of(exc)
        if isinstance(started, Ending):
            result = self._conclude(started)
            raise EpisodeStartError(f"The trial of {task.id} could not start.", result.detail)
        self._phase, self._shown_s = _Phase.STEP, self._clock.monotonic_s()
        self._conclusion.has_started = True
        return started

    def step(self, actions: Sequence[Action] | Turn, *, member: str | None = None) -> Step:
        """Execute one turn and return its outcome.

        The time since the last observation was returned is charged to the agent.

        Args:
            actions: actions in order; after a rejected one the rest is dropped. A `Turn` also
                contains the agent's usage and notes.
            member: name of the member whose turn it is; needed in a team of several.

        Raises:
            EpisodeUseError: the episode was not reset, the trial is over, or there is no such
                member.
            StoreError: the log cannot be written.
        """
        live, name = self._require_live(), self._begin_turn(member)
        turn = actions if isinstance(actions, Turn) else Turn(tuple(actions))
        agent_s = max(0.0, self._turn_s() - turn.outage_s)
        live.budget.charge(name, agent_s, turn.usage)
        try:
            self.cancel.check()
            if ending := live.budget.spent():
                return self._over(ending)
            report = live.take(turn, agent_s, name)
            self._on_step(live.budget.steps)
            if report.ending:
                return self._over(report.ending, report.newly_met, report.feedback)
            observation = live.observe(report.feedback)
        except StoreError:
            raise
        except Exception as exc:  # noqa: BLE001 - the trial's boundary
            return self._over(self._ending_of(exc))
        self._shown_s = self._clock.monotonic_s()
        self._require_conclusion().acting = ""
        return Step(observation, report.newly_met, report.feedback)

    def consult(
        self,
        turn: Turn,
        *,
        member: str | None = None,
        about: Mapping[str, object] | None = None,
        seconds: float | None = None,
    ) -> Step:
        """Charge and log a turn that acts on no machine, such as a plan or a message.

        Args:
            turn: the turn; its actions are not executed. A fault counts as a rejected action.
            member: as in `step`.
            about: what it was for, as fields of the log's line.
            seconds: how long the member took, if others took a part of the time since the last
                observation; they are charged with the rest.

        Returns:
            The outcome, with the last observation.

        Raises:
            EpisodeUseError: as in `step`.
            StoreError: the log cannot be written.
        """
        live, name = self._require_live(), self._begin_turn(member)
        taken_s = self._turn_s() if seconds is None else min(seconds, self._turn_s())
        agent_s = max(0.0, taken_s - turn.outage_s)
        live.budget.charge(name, agent_s, turn.usage)
        try:
            self.cancel.check()
            report = live.consult(turn, agent_s, name, dict(about or {}))
            if ending := report.ending or live.budget.spent():
                return self._over(ending, (), report.feedback)
        except StoreError:
            raise
        except Exception as exc:  # noqa: BLE001 - the trial's boundary
            return self._over(self._ending_of(exc))
        self._shown_s += taken_s
        self._require_conclusion().acting = ""
        return Step(live.last_seen(), (), report.feedback)

    def evaluate(self) -> Evaluation:
        """Judge the trial as if it ended now, without ending it; can be called repeatedly.

        The time for this is not charged to the agent.

        Raises:
            EpisodeUseError: the episode was not reset, or the trial is over.
        """
        live, begin_s = self._require_live(), self._clock.monotonic_s()
        try:
            return live.evaluate()
        finally:
            self._shown_s += self._clock.monotonic_s() - begin_s

    def met_early(self) -> tuple[str, ...]:
        """Return the nodes that are met although not all of their predecessors are.

        The time for this is not charged to the agent.

        Raises:
            EpisodeUseError: the episode was not reset, or the trial is over.
        """
        live, begin_s = self._require_live(), self._clock.monotonic_s()
        try:
            return live.graph.check_waiting()
        finally:
            self._shown_s += self._clock.monotonic_s() - begin_s

    def note(self, entries: Iterable[Entry], *, member: str | None = None) -> None:
        """Log a member's diary entries.

        Raises:
            EpisodeUseError: there is no such member, or it is not named in a team of several.
            StoreError: the log cannot be written.
        """
        name = self._member(member)
        for entry in entries:
            for picture in entry.pictures:
                self._log.keep_picture(picture.data, picture.media_type)
            self._log.append("agent", member=name, kind=entry.kind, data=entry.data)

    def fail(self, error: Exception, *, member: str | None = None) -> Step:
        """End the trial because its driver cannot continue.

        Args:
            error: an `AgentError` is attributed to the agent or its model and includes the cost of
                the turn; other errors are attributed to the environment.
            member: name of the member whose turn it is; needed in a team of several.

        Raises:
            EpisodeUseError: the episode was not reset, or the trial is over.
            StoreError: the log cannot be written.
        """
        turn_s, usage, live = self._turn_s(), NO_USAGE, self._require_live()
        if isinstance(error, AgentError):
            turn_s -= error.outage_s
            usage = usage_of(error.tokens, error.usd)
        live.budget.charge(self._begin_turn(member), turn_s, usage)
        return self._over(self._ending_of(error))

    def expire(self, reason: Reason, outage_s: float = 0.0, *, member: str | None = None) -> Step:
        """End the trial because its agent did not answer in time.

        Args:
            reason: `Reason.TIME_LIMIT` or `Reason.WALL_LIMIT`.
            outage_s: measured outage of its model in this turn, seconds, which is not charged.
            member: name of the member whose turn it is; needed in a team of several.

        Raises:
            EpisodeUseError: the episode was not reset, or the trial is over.
            StoreError: the log cannot be written.
        """
        budget = self._require_live().budget
        budget.charge(self._begin_turn(member), self._turn_s() - outage_s, NO_USAGE)
        detail = "The agent did not answer in time."
        is_wall = reason is Reason.WALL_LIMIT
        return self._over(budget.too_long(detail) if is_wall else Ending(reason, detail))

    def close(self) -> TrialResult:
        """Release the machines and return the result; later calls return the same result.

        A trial that is not over is recorded as cancelled. If the run keeps end states, the state of
        the machines is saved before they are released.

        Raises:
            EpisodeUseError: the episode was never reset.
            StoreError: the log cannot be written.
        """
        self._require_conclusion()
        try:
            if self._result is None:
                self.cancel.cancel("Closed before its end.")
                return self._conclude(Ending(Reason.CANCELLED, self.cancel.reason))
            self._keep_end_state(self._result)
            return self._result
        finally:
            if self._live is not None:
                self._live.close()
            self._machines.release()

    def agent_context(self) -> AgentContext:
        """Return everything that an agent is allowed to know.

        Raises:
            EpisodeUseError: the episode was not reset, or the trial is over.
        """
        live = self._require_live()
        tells = self._context.spec.observation.environments
        environments = describe_environments(live.machines) if tells else {}
        return AgentContext(live.task.full_instruction, live.space, self._seed, environments)

    def oracle_context(self) -> OracleContext:
        """Return what the player of a reference solution needs; never pass it to an agent.

        Raises:
            EpisodeUseError: the episode was not reset, or the trial is over.
        """
        live = self._require_live()
        agent = self.agent_context()
        return OracleContext(agent, live.task, live.machines, live.runners, self._clock)

    def time_left_s(self) -> tuple[float, float]:
        """Return the remaining agent time and wall time, seconds.

        The agent's current turn is deducted from both.

        Raises:
            EpisodeUseError: the episode was not reset, or the trial is over.
        """
        budget = self._require_live().budget
        return budget.agent_left_s - self._turn_s(), budget.wall_left_s

    def is_due(self) -> bool:
        """Return whether the next `step` will end the trial, regardless of its actions.

        Raises:
            EpisodeUseError: the episode was not reset, or the trial is over.
        """
        return min(self.time_left_s()) <= 0 or self.cancel.is_cancelled

    def _bind(self, task: Task) -> Task | Ending:
        """Return the task with parameters bound by this trial's seed."""
        conclusion = self._require_conclusion()
        agents = {name: member.agent for name, member in self._context.spec.members.items()}
        about = {"agents": agents, "code": self._context.spec.code}
        named = {"task": task.id, "repeat": self._repeat, "seed": self._seed, **about}
        try:
            bound = bind_task(task, self._seed)
        except (SpecError, TypeError, ValueError) as exc:
            self._log.append("start", **named)
            return Ending(Reason.TASK_ERROR, f"parameters: {message_of(exc)}")
        conclusion.bind(bound)
        values = {"parameters": dict(bound.values)} if bound.values else {}
        nodes = {
            node.id: {"mode": node.mode.value, "after": list(node.after)}
            for node in bound.task.graph
        }
        shown = {"instruction": bound.task.full_instruction, "nodes": nodes}
        self._log.append("start", **named, **shown, **values)
        return bound.task

    def _open(self, task: Task) -> LiveTrial:
        conclusion = self._require_conclusion()
        environment = self._machines.lease(task, conclusion)
        self._phase = _Phase.SETUP
        self._live = self._machines.connect(task, environment, conclusion)
        return self._live

    def _start(self, task: Task, live: LiveTrial) -> Observation | Ending:
        try:
            vocabulary = self._context.vocabulary
            prepare(
                task,
                live.machines,
                vocabulary,
                live.runners,
                self._clock,
                resources=live.resources,
            )
            live.open_tools()
        except MesocosmError as exc:
            return ending_of_setup(exc)
        self._phase = _Phase.START
        report = live.check_start()
        return live.begin() if report.is_clean else ending_of_start(report)

    def _ending_of(self, error: Exception) -> Ending:
        _LOG.info("an exception ends the trial", exc_info=error)
        is_agents = self._phase is _Phase.STEP and self._live is not None
        machines = self._live.machines.values() if self._live and is_agents else ()
        return ending_of(error, self._phase.name.lower(), machines)

    def _over(self, ending: Ending, newly_met: tuple[str, ...] = (), feedback: str = "") -> Step:
        seen = self._require_live().last_seen()
        result = self._conclude(ending)
        return Step(seen, newly_met, feedback, done=True, reason=result.reason)

    def _conclude(self, ending: Ending) -> TrialResult:
        conclusion = self._require_conclusion()
        self._phase = _Phase.OVER
        self._ending = self._machines.explain(ending)
        self._result = conclusion.write(self._ending, self._live, self._context, self._log)
        return self._result

    def _keep_end_state(self, result: TrialResult) -> None:
        """Save the machines' current state once, if the run keeps end states."""
        keeper, folder = self._context.keeper, self._log.folder
        if keeper is None or folder is None or self._live is None or self._is_kept:
            return
        self._is_kept = True
        if keeper.wants(result):
            kept = keeper.keep(folder, self._live, self._ending, self._seed)
            self._log.append("end_state", **kept.model_dump())

    def _begin_turn(self, member: str | None) -> str:
        """Note whose turn it is, and return the name of the member."""
        name = self._member(member)
        self._require_conclusion().acting = name
        return name

    def _member(self, name: str | None) -> str:
        members = self._context.spec.members
        if name in members or (name is None and len(members) == 1):
            return name or next(iter(members))
        raise EpisodeUseError(
            "The member whose turn it is was not named."
            if name is None
            else f"This team has no member {name!r}.",
            resolution=f"Pass the name of a member: {', '.join(members)}.",
        )

    def _turn_s(self) -> float:
        return self._clock.monotonic_s() - self._shown_s

    def _require_conclusion(self) -> Conclusion:
        if self._conclusion is None:
            raise EpisodeUseError("This episode was not reset.", resolution="Call reset() first.")
        return self._conclusion

    def _require_live(self) -> LiveTrial:
        self._require_conclusion()
        if self._phase is not _Phase.STEP or self._live is None:
            raise EpisodeUseError("This trial is over.", resolution="Call close() for its result.")
        return self._live
