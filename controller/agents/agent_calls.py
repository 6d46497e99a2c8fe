"""Call agents' code in a thread of its own, within the limits of a trial."""

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
    from controller.protocol import Agent, AgentContext, MakeAgent, Turn

    T = TypeVar("T")

_CLOSE_S = 10.0
_LOG = logging.getLogger(__name__)


class AgentCalls:
    """Calls the agents of one trial.

    Args:
        thread: runs their code; a call that never returns is abandoned with it.
        episode: the trial.
        allowance_s: how much longer than the agents' own time a call may take, for outages of
            their models.
        measures_outage: whether the outages that agents report were measured by the appliance.

    Attributes:
        member: name of the member that was called last; None for a single agent.
    """

    def __init__(
        self, thread: CallThread, episode: Episode, allowance_s: float, *, measures_outage: bool
    ) -> None:
        self.member: str | None = None
        self._thread = thread
        self._episode = episode
        self._allowance_s = allowance_s
        self._measures_outage = measures_outage
        self._agents: list[Agent] = []

    def create(
        self, make_agent: MakeAgent, context: AgentContext, member: str | None = None
    ) -> Agent:
        """Create an agent.

        Args:
            make_agent: creates it.
            context: everything that it receives.
            member: its name in a team.

        Raises:
            AgentError: its code raised an exception.
            NoAnswerError: it did not return in time.
            CancelledError: the trial was cancelled meanwhile.
        """
        agent: Agent = self._ask(functools.partial(make_agent, context), context.diary, member)
        self._agents.append(agent)
        return agent

    def turn(
        self, agent: Agent, observation: Observation, diary: Diary, member: str | None = None
    ) -> Turn:
        """Return the turn of an agent; raises like `create`."""
        turn = as_turn(self._ask(functools.partial(agent.act, observation), diary, member))
        if turn.outage_s and not self._measures_outage:
            entry = Entry("outage", {"measured_s": 0, "reported_s": turn.outage_s})
            self._episode.note([entry], member=member)
            turn = replace(turn, outage_s=0.0)
        return turn

    def expire(self) -> None:
        """End the trial because an agent did not answer in time."""
        agent_left_s, _ = self._episode.time_left_s()
        outage_s = self._pending_s()
        is_late = agent_left_s + self._allowance_s + outage_s <= 0
        reason = Reason.TIME_LIMIT if is_late else Reason.WALL_LIMIT
        self._episode.expire(reason, outage_s, member=self.member)

    def close(self) -> None:
        """Close the agents that have a method ``close``; failures do not affect the result."""
        for agent in self._agents:
            _close(agent)

    def _ask(self, call: Callable[[], T], diary: Diary, member: str | None) -> T:
        self.member = member
        agent_s, wall_s = self._episode.time_left_s()
        timeout_s = max(0.0, min(agent_s + self._allowance_s, wall_s))
        try:
            result = self._thread.run(
                _shielded(call),
                timeout_s=timeout_s,
                cancel=self._episode.cancel,
                extension_s=lambda: min(self._pending_s(), wall_s - timeout_s),
            )
            if not isinstance(result, _Raised):
                return result
            exc = result.error
            _LOG.info("the agent raised an exception", exc_info=exc)
            diary.write("traceback", text=mask("".join(traceback.format_exception(exc))))
            text = mask(f"The agent raised {type(exc).__name__}: {exc}")
            raise AgentError(text, place_of(exc)) from exc
        finally:
            self._episode.note(diary.take(), member=member)

    def _pending_s(self) -> float:
        """Return the measured outage in the current turn, as far as it may turn out."""
        measured = (agent for agent in self._agents if isinstance(agent, OutageMeasured))
        return sum(agent.pending_outage_s() for agent in measured) if self._measures_outage else 0.0


def drive_agents(
    episode: Episode,
    drive: Callable[[AgentCalls], None],
    *,
    allowance_s: float,
    measures_outage: bool,
) -> None:
    """Let agents act until the trial is over, and close them.

    Args:
        episode: the trial.
        drive: creates the agents and asks them for turns.
        allowance_s: as for `AgentCalls`.
        measures_outage: as for `AgentCalls`; otherwise reported outages are charged, because an
            agent must not be its own clock.

    Raises:
        AgentError: an agent cannot continue, or its code raised an exception.
        CancelledError: the trial was cancelled meanwhile.
        StoreError: the log cannot be written.
    """
    calls: AgentCalls | None = None
    try:
        with CallThread() as thread:
            calls = AgentCalls(thread, episode, allowance_s, measures_outage=measures_outage)
            drive(calls)
    except NoAnswerError:
        if calls is None:
            raise
        calls.expire()
    except AgentError as exc:
        if not measures_outage:
            exc.outage_s = 0.0
        raise
    finally:
        if calls is not None:
            calls.close()


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
