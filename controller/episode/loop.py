"""The loop of a trial: observe, ask the agent, act, settle, evaluate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from appliance.base.errors import ActionError, AgentError, ModelError
from controller.agents.protocol import Usage
from controller.episode.limits import EndTrial, Guard
from controller.episode.result import Reason
from controller.episode.stopwatch import Stopwatch
from controller.observation.observer import Observation, Observer
from controller.observation.settle import changed_ratio, settle_machine
from evaluators.graph.evaluator import GraphEvaluator
from evaluators.graph.outcome import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from controller.actions.session import SessionState
    from controller.actions.space import Action
    from controller.agents.protocol import Agent, Seat, Turn
    from controller.episode.context import Stage
    from controller.observation.observer import Frame
    from controller.store.event_log import TrialLog


@dataclass(frozen=True, slots=True)
class LoopParts:
    """What a loop works with.

    Attributes:
        seat: task, action space, machines and runners.
        stage: what the trials of a run share.
        state: what actions on the session write to.
        log: where every step is written through.
        on_step: called after each step with the number of steps so far.
    """

    seat: Seat
    stage: Stage
    state: SessionState
    log: TrialLog
    on_step: Callable[[int], None]


class Loop:
    """Lets one agent act until something ends its trial.

    Args:
        parts: what it works with.
        graph: of the task, nothing evaluated yet.

    Attributes:
        graph: as far as it is met.
        steps: actions carried out.
        usage: tokens so far.
        is_asking: whether the agent is thinking right now.
    """

    def __init__(self, parts: LoopParts, graph: GraphEvaluator) -> None:
        self._parts = parts
        self._seat = parts.seat
        self._clock = parts.stage.clock
        self._observer = Observer(parts.seat.machines)
        self._guard: Guard | None = None
        self.graph = graph
        self.usage = Usage()
        self.is_asking = False

    @property
    def steps(self) -> int:
        """Actions carried out."""
        return 0 if self._guard is None else self._guard.steps

    def run(self, agent: Agent) -> None:
        """Go round until the trial is over.

        Raises:
            EndTrial: always; it says why.
            LinkError: a machine failed.
            StoreError: the log cannot be written.
        """
        frames = {role: self._still(role) for role in self._seat.machines}
        shots = self._observer.look(frames)
        self._parts.log.append("observation", step=0, screens=self._parts.log.keep(shots))
        guard = self._guard = Guard(self._seat.task.limits, self._clock)
        feedback = ""
        while True:
            turn, seconds = self._ask(agent, guard, self._observe(guard.steps, feedback))
            feedback = self._take(turn, seconds, guard)

    def _observe(self, step: int, feedback: str) -> Observation:
        machines = self._seat.machines if self._parts.stage.with_trees else {}
        trees = {role: machine.tree.elements() for role, machine in machines.items()}
        return Observation(step, dict(self._observer.shots), feedback, trees)

    def _ask(self, agent: Agent, guard: Guard, observation: Observation) -> tuple[Turn, float]:
        guard.check_time()
        watch = Stopwatch(self._clock)
        self.is_asking = True
        try:
            turn = agent.act(observation)
        except AgentError as exc:
            conclusive = not isinstance(exc, ModelError)
            raise EndTrial(Reason.AGENT_ERROR, str(exc), is_conclusive=conclusive) from exc
        self.is_asking = False
        self.usage = self.usage + turn.usage
        guard.check_time()
        return turn, watch.lap()

    def _take(self, turn: Turn, agent_s: float, guard: Guard) -> str:
        """Carry out a turn and give the feedback for the next one."""
        told = {"note": turn.note, "usage": turn.usage.to_dict(), "agent_s": round(agent_s, 4)}
        if not turn.actions:
            return self._refuse(None, turn.fault or "You chose no action.", guard, told)
        for action in turn.actions:
            watch = Stopwatch(self._clock)
            try:
                self._seat.space.execute(action)
            except ActionError as exc:
                return self._refuse(action, str(exc), guard, told)
            self._finish_step(action, watch, guard, told)
            told = {}
        return ""

    def _refuse(
        self, action: Action | None, why: str, guard: Guard, told: Mapping[str, object]
    ) -> str:
        wanted = None if action is None else action.to_dict()
        self._parts.log.append("refused", action=wanted, why=why, **told)
        guard.count_refusal(why)
        return why

    def _finish_step(
        self, action: Action, watch: Stopwatch, guard: Guard, told: Mapping[str, object]
    ) -> None:
        seconds = {"act": watch.lap()}
        before = {role: shot.frame for role, shot in self._observer.shots.items()}
        known = {} if action.on is None else {action.on: self._still(action.on)}
        seconds["settle"] = watch.lap()
        shots = self._observer.look(known)
        screens = self._parts.log.keep(shots)
        seconds["observe"] = watch.lap()
        ratio = self._parts.stage.rule.still_ratio
        changed = any(
            changed_ratio(before[role], shot.frame) > ratio for role, shot in shots.items()
        )
        guard.count_action(action, has_changed=changed)
        met = self.graph.step()
        seconds["evaluate"] = watch.lap()
        self._parts.log.append(
            "step",
            n=guard.steps,
            action=action.to_dict(),
            screens=screens,
            met=list(met),
            graph=self.graph.to_dict(),
            seconds={phase: round(value, 4) for phase, value in seconds.items()},
            **told,
        )
        self._measure(seconds, told)
        self._parts.on_step(guard.steps)
        self._check_end(guard)

    def _check_end(self, guard: Guard) -> None:
        if self._is_passed():
            raise EndTrial(Reason.SUCCESS)
        if self._parts.state.completed:
            raise EndTrial(Reason.FALSE_COMPLETION)
        guard.check_action()

    def _is_passed(self) -> bool:
        """Tell whether all is met, hold nodes checked again on a copy: the agent may go on."""
        if not self.graph.is_complete:
            return False
        copy = GraphEvaluator.from_dict(
            self._seat.task.graph, self._seat.runners, self.graph.to_dict()
        )
        copy.finish()
        if copy.verdict() is not Verdict.PASS:
            return False
        self.graph = copy
        return True

    def _still(self, role: str) -> Frame:
        machine = self._seat.machines[role]
        return settle_machine(machine, self._parts.stage.rule, self._clock).frame

    def _measure(self, seconds: Mapping[str, float], told: Mapping[str, object]) -> None:
        stage = self._parts.stage
        for phase, value in seconds.items():
            stage.record("step_seconds", value, phase=phase)
        agent_s = told.get("agent_s")
        if isinstance(agent_s, float):
            stage.record("step_seconds", agent_s, phase="agent")
        stage.record("steps_total", 1.0, suite=stage.suite, agent=stage.agent)
