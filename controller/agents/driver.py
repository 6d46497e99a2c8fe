"""Drive an episode with an agent, which only receives an `AgentContext`."""

from __future__ import annotations

import functools
import logging
import traceback
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from controller.agents.custom.turns import as_turn
from controller.agents.places import place_of
from controller.diary import Entry
from controller.episode.result import Reason
from controller.protocol import OutageMeasured
from foundation.bounded import CallThread, NoAnswerError
from foundation.errors import AgentError, CancelledError
from foundation.masking import mask

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from controller.diary import Diary
    from controller.episode.episode import Episode
    from controller.observation.observer import Observation
    from controller.protocol import Agent, MakeAgent

    T = TypeVar("T")

_CLOSE_S = 10.0
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AgentDriver:
    """Lets an agent act until the trial is over.

    The agent runs in its own thread, so that a call that never returns cannot bypass the trial's
    limits: it is abandoned, and the trial ends.

    Attributes:
        make_agent: creates the agent of a trial.
        allowance_s: how much longer than the agent's own time a call may take, for outages of its
            model.
        measures_outage: whether the outages that agents report were measured by the appliance.
            Others are logged and charged: an agent must not be its own clock.
    """

    make_agent: MakeAgent
    allowance_s: float = 0.0
    measures_outage: bool = False

    def drive(self, episode: Episode, observation: Observation) -> None:
        """Create the agent and request turns until the trial is over.

        Raises:
            AgentError: the agent cannot continue, or its code raised an exception.
            CancelledError: the trial was cancelled meanwhile.
            StoreError: the log cannot be written.
        """
        agents: list[Agent] = []
        try:
            with CallThread() as thread:
                self._drive(thread, episode, observation, agents)
        except NoAnswerError:
            agent_left_s, _ = episode.time_left_s()
            outage_s = self._pending_s(agents)
            is_late = agent_left_s + self.allowance_s + outage_s <= 0
            episode.expire(Reason.TIME_LIMIT if is_late else Reason.WALL_LIMIT, outage_s)
        except AgentError as exc:
            if not self.measures_outage:
                exc.outage_s = 0.0
            raise
        finally:
            for agent in agents:
                _close(agent)

    def _drive(
        self,
        thread: CallThread,
        episode: Episode,
        observation: Observation,
        agents: list[Agent],
    ) -> None:
        """Create the agent, append it to `agents`, and let it act."""
        context = episode.agent_context()
        ask = functools.partial(self._ask, thread, episode, context.diary, agents)
        agent: Agent = ask(functools.partial(self.make_agent, context))
        agents.append(agent)
        while True:
            turn = as_turn(ask(functools.partial(agent.act, observation)))
            if turn.outage_s and not self.measures_outage:
                episode.note([Entry("outage", {"measured_s": 0, "reported_s": turn.outage_s})])
                turn = replace(turn, outage_s=0.0)
            step = episode.step(turn)
            if step.done:
                return
            observation = step.observation

    def _ask(
        self,
        thread: CallThread,
        episode: Episode,
        diary: Diary,
        agents: list[Agent],
        call: Callable[[], T],
    ) -> T:
        agent_s, wall_s = episode.time_left_s()
        timeout_s = max(0.0, min(agent_s + self.allowance_s, wall_s))
        try:
            result = thread.run(
                _shielded(call),
                timeout_s=timeout_s,
                cancel=episode.cancel,
                extension_s=lambda: min(self._pending_s(agents), wall_s - timeout_s),
            )
            if not isinstance(result, _Raised):
                return result
            exc = result.error
            _LOG.info("the agent raised an exception", exc_info=exc)
            diary.write("traceback", text=mask("".join(traceback.format_exception(exc))))
            text = mask(f"The agent raised {type(exc).__name__}: {exc}")
            raise AgentError(text, place_of(exc)) from exc
        finally:
            episode.note(diary.take())

    def _pending_s(self, agents: list[Agent]) -> float:
        """Return the measured outage in the current turn, as far as it may turn out."""
        measured = (agent for agent in agents if isinstance(agent, OutageMeasured))
        return sum(agent.pending_outage_s() for agent in measured) if self.measures_outage else 0.0


@dataclass(frozen=True, slots=True)
class _Raised:
    """Any exception of an agent's code, even BaseException: Ctrl-C only reaches the main thread."""

    error: BaseException


def _shielded(call: Callable[[], T]) -> Callable[[], T | _Raised]:
    """Return a call that raises Mesocosm's errors and returns all other exceptions."""

    def run() -> T | _Raised:
        try:
            return call()
        except (AgentError, CancelledError, NoAnswerError):
            raise
        except BaseException as exc:  # noqa: BLE001 - any exception of the agent's code
            return _Raised(exc)

    return run


def _close(agent: Agent) -> None:
    """Close an agent that has a method ``close``; failures do not affect the result."""
    close = getattr(agent, "close", None)
    if not callable(close):
        return
    try:
        with CallThread() as thread:
            result = thread.run(_shielded(close), timeout_s=_CLOSE_S)
    except (AgentError, NoAnswerError) as exc:
        _LOG.warning("cannot close the agent: %s", exc)
        return
    if isinstance(result, _Raised):
        error = result.error
        text = mask(f"{type(error).__name__}: {error} ({place_of(error)})")
        _LOG.warning("cannot close the agent: %s", text)
