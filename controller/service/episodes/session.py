"""One externally driven episode; a single thread does all work with its machines."""

from __future__ import annotations

import logging
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, TypeVar

from controller.agents.custom.messages import start_message
from controller.service.episodes.errors import (
    CommandsRefusedError,
    EpisodeBusyError,
    EpisodeOverError,
    InfrastructureError,
    TaskFaultError,
)
from controller.service.episodes.outcome import (
    Fault,
    ObservationSummary,
    Standing,
    StepOutcome,
    fault_of,
)
from controller.service.episodes.replay import Replies
from foundation.cancel import CancelToken
from foundation.errors import (
    EpisodeStartError,
    EpisodeUseError,
    MesocosmError,
    UnknownNameError,
)
from foundation.logging import log_context

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.episode.episode import Episode
    from controller.episode.result import TrialResult
    from controller.service.episodes.orders import CommandOrder, EpisodeRequest, StepOrder
    from controller.service.episodes.outcome import Picture
    from evaluators.model.task import Task
    from foundation.clock import Clock
    from foundation.process import CommandResult
    from provisioning.protocols import Json, Machine

T = TypeVar("T")
_log = logging.getLogger(__name__)


class EpisodeCreator(Protocol):
    """Creates requested episodes, as `factory.EpisodeFactory` does."""

    def check(self, request: EpisodeRequest) -> Task:
        """Return the task that a request names.

        Raises:
            UnknownNameError: there is no such suite or task.
            SpecError: a file of the suite is invalid.
        """
        ...

    def make(self, request: EpisodeRequest, cancel: CancelToken) -> tuple[Episode, Task]:
        """Return a new episode and its task; called in the thread that steps it.

        Raises:
            MesocosmError: see `check`; or its machines are not available.
        """
        ...


class Phase(StrEnum):
    """Phase of an episode."""

    OPENING = "opening"
    OPEN = "open"
    OVER = "over"
    """Its machines are released."""


class End(StrEnum):
    """How an episode ended."""

    DONE = "done"
    """By its last step, or by a limit of its task."""
    CLOSED = "closed"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    FAILED = "failed"
    """It could not start."""


@dataclass(frozen=True, slots=True)
class Opening:
    """Data returned to the caller that opened an episode."""

    instruction: str
    actions: list[dict[str, Json]]
    seen: ObservationSummary


class EpisodeSession:
    """One episode; thread-safe.

    Args:
        episode_id: unique id.
        request: the request for the episode.
        factory: creates the episode.
        clock: measures idle time.

    Attributes:
        episode_id: see above.
        request: see above.
        opening: done when the first observation is available, or the episode could not start.
        phase: current phase.
        end: how it ended; None before.
        result: result of the trial; None before the end, and if there is none.
    """

    def __init__(
        self,
        episode_id: str,
        request: EpisodeRequest,
        factory: EpisodeCreator,
        clock: Clock,
    ) -> None:
        self.episode_id = episode_id
        self.request = request
        self.phase = Phase.OPENING
        self.end: End | None = None
        self.result: TrialResult | None = None
        self._factory = factory
        self._clock = clock
        self._cancel = CancelToken()
        self._lock = threading.RLock()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=episode_id)
        self._jobs = 0
        self._ttl_s = request.ttl_s
        self._used_s = clock.monotonic_s()
        self._episode: Episode | None = None
        self._replies = Replies()
        self._step: Future[StepOutcome] | None = None
        self.opening: Future[Opening] = self._submit(self._open)

    @property
    def ttl_s(self) -> float:
        """Idle timeout in seconds."""
        return self._ttl_s

    @property
    def idle_s(self) -> float:
        """Seconds since the last request or the end of the last operation."""
        return self._clock.monotonic_s() - self._used_s

    @property
    def expires_in_s(self) -> float:
        """Seconds until it expires without further requests."""
        return max(0.0, self._ttl_s - self.idle_s)

    @property
    def is_idle(self) -> bool:
        """Whether no operation runs and the idle timeout has passed."""
        with self._lock:
            return not self._jobs and self.expires_in_s <= 0

    @property
    def opened(self) -> Opening | None:
        """Data of the opening, while kept."""
        with self._lock:
            return self.opening.result() if _is_done(self.opening) else None

    @property
    def latest(self) -> ObservationSummary | None:
        """The latest observation, while kept."""
        with self._lock:
            for outcome in self._replies.outcomes():
                return outcome.seen
        return self.opened.seen if self.opened else None

    def touch(self, ttl_s: float | None = None) -> None:
        """Restart the idle timeout, by default with the same duration."""
        with self._lock:
            self._ttl_s = self._ttl_s if ttl_s is None else ttl_s
            self._used_s = self._clock.monotonic_s()

    def step(self, request_id: str, order: StepOrder) -> Future[StepOutcome]:
        """Start a step, or return the one that the same request started.

        Raises:
            ReusedIdError: the id was used for another step.
            EpisodeBusyError: another step is running, or the episode is not open yet.
            EpisodeOverError: the episode has ended.
        """
        with self._lock:
            self.touch()
            if known := self._replies.find(request_id, order.digest):
                return known
            self._require_open()
            if self._step is not None and not self._step.done():
                raise EpisodeBusyError(
                    f"Another step of {self.episode_id} is running.",
                    resolution="Wait for it: repeat its request with its request id.",
                )
            self._step = self._submit(lambda: self._execute(order))
            self._replies.add(request_id, order.digest, self._step)
            return self._step

    def run(self, order: CommandOrder) -> CommandResult:
        """Run a command on a machine, in the caller's thread; steps may run meanwhile.

        Raises:
            CommandsRefusedError: the episode was not opened for this.
            EpisodeOverError: the episode has ended, or ended meanwhile.
            EpisodeBusyError: it is not open yet.
            UnknownNameError: there is no such role.
            LinkError: the machine does not answer, or cannot run the command.
        """
        with self._lock:
            self.touch()
            self._require_open()
            machines = self._require_live().oracle_context().machines
            machine = machines.get(order.on)
            if machine is None:
                raise UnknownNameError.of("role", order.on, machines)
            self._require_allowed(order, machine)
            self._jobs += 1
        try:
            return machine.run(
                order.argv,
                user=order.user,
                timeout_s=order.timeout_s,
                input=order.input,
                cwd=order.cwd,
                env=order.env,
            )
        finally:
            with self._lock:
                self._jobs -= 1
                self._used_s = self._clock.monotonic_s()

    def evaluate(self) -> Future[Standing]:
        """Start to evaluate the episode as if it ended now; if it is over, return its result.

        Raises:
            EpisodeOverError: it ended without a result.
            EpisodeBusyError: it is not open yet.
        """
        with self._lock:
            self.touch()
            if self.result is None:
                self._require_open()
                return self._submit(self._evaluate)
            done: Future[Standing] = Future()
            done.set_result(Standing.of_result(self.result))
            return done

    def close(self, end: End = End.CLOSED) -> Future[None]:
        """End the episode after its running operation, release its machines and drop its pictures.

        Args:
            end: how it ends; ignored if it has already ended.
        """
        with self._lock:
            if end is End.CANCELLED:
                self._cancel.cancel("Cancelled by its caller.")
            if self.phase is not Phase.OVER:
                return self._submit(lambda: self._finish(end, forgets=True))
            self._forget()
            done: Future[None] = Future()
            done.set_result(None)
            return done

    def end_expired(self) -> None:
        """End the episode if it has expired, or a limit of its task is exceeded."""
        with self._lock:
            if self._jobs:
                return
            if self.phase is Phase.OVER:
                if self.is_idle:
                    self._forget()
            elif self.is_idle:
                _log.info("%s has expired: no requests within its timeout", self.episode_id)
                self.close(End.EXPIRED)
            elif self._episode is not None and self._is_due(self._episode):
                self._submit(self._end_due)

    def picture(self, sha256: str) -> Picture | None:
        """Return a picture of the kept observations; None if it is not kept."""
        with self._lock:
            kept = [outcome.seen for outcome in self._replies.outcomes()]
            if opened := self.opened:
                kept.append(opened.seen)
        for seen in kept:
            for picture in seen.pictures.values():
                if picture.sha256 == sha256:
                    return picture
        return None

    def _submit(self, job: Callable[[], T]) -> Future[T]:
        with self._lock:
            self._jobs += 1
            return self._thread.submit(self._run, job)

    def _run(self, job: Callable[[], T]) -> T:
        try:
            with log_context(episode=self.episode_id):
                return job()
        finally:
            with self._lock:
                self._jobs -= 1
                self._used_s = self._clock.monotonic_s()

    def _open(self) -> Opening:
        try:
            self._episode, task = self._prepare()
            observation = self._episode.reset(task, self.request.seed)
            about = self._episode.agent_context()
        except EpisodeStartError as exc:
            self._finish(End.FAILED)
            raise self._refusal(exc) from exc
        except BaseException:
            self._finish(End.FAILED)
            raise
        self.phase = Phase.OPEN
        return Opening(
            about.instruction, start_message(about)["actions"], ObservationSummary.of(observation)
        )

    def _prepare(self) -> tuple[Episode, Task]:
        try:
            return self._factory.make(self.request, self._cancel)
        except MesocosmError as exc:
            raise InfrastructureError(exc.brief, exc.details, exc.resolution) from exc

    def _refusal(self, error: EpisodeStartError) -> Exception:
        if self.result is None:
            return error
        match fault_of(self.result.reason):
            case Fault.TASK:
                return TaskFaultError(error.brief, error.details)
            case Fault.CANCELLED:
                return EpisodeOverError(error.brief, error.details)
        return InfrastructureError(error.brief, error.details, "Open the episode again.")

    def _execute(self, order: StepOrder) -> StepOutcome:
        step = self._require_live().step(order.turn())
        if step.done:
            self._finish(End.DONE)
        return StepOutcome.of(step, self.result)

    def _evaluate(self) -> Standing:
        if self.result is not None:
            return Standing.of_result(self.result)
        return Standing.of_evaluation(self._require_live().evaluate())

    def _end_due(self) -> None:
        if self._episode is not None and self._is_due(self._episode):
            self._episode.step(())
            self._finish(End.DONE)

    def _finish(self, end: End, *, forgets: bool = False) -> None:
        """End the episode and release its machines; runs in the session's thread."""
        episode, self._episode = self._episode, None
        try:
            if episode is not None:
                self.result = episode.close()
        except EpisodeUseError:  # it was never reset
            _log.debug("%s has no result", self.episode_id)
        finally:
            with self._lock:
                self.phase = Phase.OVER
                self.end = self.end or end
                if forgets:
                    self._forget()
                self._thread.shutdown(wait=False)
            _log.info("%s is over: %s", self.episode_id, self.end)

    def _forget(self) -> None:
        self._replies.forget()
        self.opening = Future()
        self.opening.set_exception(_over(self.episode_id, self.end))

    @staticmethod
    def _is_due(episode: Episode) -> bool:
        try:
            return episode.is_due()
        except EpisodeUseError:
            return False

    def _require_open(self) -> None:
        if self.phase is Phase.OVER:
            raise _over(self.episode_id, self.end)
        if self.phase is Phase.OPENING:
            raise EpisodeBusyError(f"{self.episode_id} is not open yet.")

    def _require_allowed(self, order: CommandOrder, machine: Machine) -> None:
        is_agents = order.user in {None, machine.info.user}
        if self.request.commands == "none" or (self.request.commands == "agent" and not is_agents):
            raise CommandsRefusedError(
                f"{self.episode_id} was opened with commands {self.request.commands!r}.",
                resolution="Open an episode with commands 'agent' (its user) or 'root' (any user).",
            )

    def _require_live(self) -> Episode:
        if self._episode is None:
            raise _over(self.episode_id, self.end)
        return self._episode


def _is_done(future: Future[Opening]) -> bool:
    return future.done() and future.exception() is None


def _over(episode_id: str, end: End | None) -> EpisodeOverError:
    return EpisodeOverError(
        f"{episode_id} is over: {end}.",
        resolution="Open another episode; the result of this one is kept for a while.",
    )
