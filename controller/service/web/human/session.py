"""Trials whose actions come from a person on a page."""

from __future__ import annotations

import io
import threading
from typing import TYPE_CHECKING

from PIL import Image

from controller.agents.human import HumanDriver
from controller.episode.step import Step
from controller.executors.local import LocalExecutor, LocalTrials
from controller.planning import specify_run
from controller.scheduling.execution import execute_run
from controller.service.episodes.errors import CapacityError, DeadlineError
from controller.specification.agent import CustomSpec
from controller.specification.observation import ObservationSpec
from controller.specification.run import trial_seed
from controller.store.runs import Store
from controller.wiring import make_context, open_fleet, open_suite
from evaluators.parameters.binding import bind_task
from foundation.cancel import CancelToken
from foundation.errors import MesocosmError, UnknownNameError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.actions.space import Action
    from controller.episode.episode import Episode
    from controller.episode.result import TrialResult
    from controller.observation.observer import Observation
    from controller.store.runs import RunFolder
    from evaluators.loading.suite import Suite
    from foundation.settings import Settings
    from provisioning.protocols import Machine

AGENT = "human"
"""Agent name of people in results."""

MAX_SESSIONS = 4
_STEP_TIMEOUT_S = 120.0
_JPEG_QUALITY = 80


class PersonDriver:
    """Driver that lets a person drive an episode, with access to the current screens."""

    def __init__(self) -> None:
        self.turns = HumanDriver(poll_s=0.25)
        self.machines: Mapping[str, Machine] = {}
        self._episode: Episode | None = None

    def drive(self, episode: Episode, observation: Observation) -> None:
        """Execute the person's actions until the trial is over.

        Raises:
            StoreError: the log cannot be written.
        """
        # Only the screens of the context's machines are used.
        self.machines = dict(episode.oracle_context().machines)
        self._episode = episode
        self.turns.drive(episode, observation)

    def left_s(self) -> float | None:
        """Return the person's remaining time in seconds; None before the start and after the end."""
        if self._episode is None or self._episode.is_over:
            return None
        return max(0.0, self._episode.time_left_s()[0])


class HumanSession:
    """One task done by one person; the trial is a run of its own.

    Args:
        folder: folder of the run.
        suite: its suite.
        driver: receives the person's actions.
        fleet: name of the fleet that leases the machines.
        settings: locate the machines.
    """

    def __init__(
        self, folder: RunFolder, suite: Suite, driver: PersonDriver, fleet: str, settings: Settings
    ) -> None:
        self._folder = folder
        self._driver = driver
        self._lock = threading.Lock()
        self._pending = 1  # replies the driver has not returned yet: first observation, then steps
        self._cancel = CancelToken()
        self._steps = 0
        self.error: MesocosmError | None = None
        self.run = folder.spec.run
        self.task = suite.task(folder.spec.tasks[0].id)
        seed = trial_seed(folder.spec.seed, self.task.id, 0)
        self.instruction = bind_task(self.task, seed).task.full_instruction
        self._thread = threading.Thread(target=self._work, args=(suite, fleet, settings))
        self._thread.start()

    @property
    def is_over(self) -> bool:
        """Whether the trial has ended and its machines are released."""
        return not self._thread.is_alive()

    @property
    def phase(self) -> str:
        """``preparing``, ``acting`` or ``over``."""
        if self.is_over:
            return "over"
        return "acting" if self._driver.left_s() is not None else "preparing"

    @property
    def result(self) -> TrialResult | None:
        """Result of the trial; None while it runs, or if it could not start."""
        return self._folder.result(self.task.id, 0) if self.is_over else None

    def describe(self) -> dict[str, object]:
        """Return the state of the session, for the page."""
        result = self.result
        return {
            "phase": self.phase,
            "left_s": self._driver.left_s(),
            "steps": self._steps if result is None else result.steps,
            "verdict": None if result is None else result.verdict.value,
            "error": "" if self.error is None else str(self.error),
        }

    def act(self, action: Action) -> Step:
        """Execute one action and return its step.

        Raises:
            UsageError: the trial has not started, or is over.
            DeadlineError: the action takes too long; it continues.
        """
        with self._lock:
            if self.phase != "acting":
                raise UsageError(f"The trial of {self.task.id} is {self.phase}.")
            try:
                step = self._exchange(action)
            except TimeoutError as exc:
                raise DeadlineError("The action is still running.") from exc
            self._steps = step.observation.step
            return step

    def _exchange(self, action: Action) -> Step:
        """Send an action after the pending ones; return its step, or the last one of the trial.

        Raises:
            TimeoutError: the action takes too long.
        """
        while self._pending:
            late = self._receive()
            if isinstance(late, Step) and late.done:
                return late
        self._driver.turns.send([action])
        self._pending += 1
        step = self._receive()
        assert isinstance(step, Step)  # noqa: S101 - the observation comes once, first
        return step

    def _receive(self) -> Step | Observation:
        received = self._driver.turns.receive(_STEP_TIMEOUT_S)
        self._pending -= 1
        return received

    def picture(self, role: str) -> bytes | None:
        """Return a machine's current screen as JPEG; None before the trial starts and after it ends.

        Raises:
            UnknownNameError: the trial has no such machine.
            MesocosmError: the machine cannot be reached.
        """
        if role not in self.task.roles:
            raise UnknownNameError.of("screen", role, self.task.roles)
        machines = {} if self.is_over else self._driver.machines
        if role not in machines:
            return None
        out = io.BytesIO()
        image = Image.fromarray(machines[role].screen.capture())
        image.save(out, format="JPEG", quality=_JPEG_QUALITY)
        return out.getvalue()

    def cancel(self, reason: str) -> None:
        """End the trial as cancelled; its machines are released."""
        self._cancel.cancel(reason)

    def wait(self) -> None:
        """Block until the trial is over."""
        self._thread.join()

    def _work(self, suite: Suite, fleet: str, settings: Settings) -> None:
        try:
            context = make_context(
                self._folder.spec,
                suite,
                open_fleet(fleet, settings),
                baselines_dir=settings.baselines_dir,
            )
            executor = LocalExecutor(LocalTrials(suite, context, self._driver))
            execute_run(self._folder, executor, cancel=self._cancel)
        except MesocosmError as exc:
            self.error = exc


class HumanSessions:
    """The trials in human mode.

    Args:
        settings: locate runs and machines.
        stop: set when the service stops; running trials are then cancelled.
    """

    def __init__(self, settings: Settings, stop: threading.Event) -> None:
        self._settings = settings
        self._stop = stop
        self._lock = threading.Lock()
        self._sessions: dict[str, HumanSession] = {}
        self._watcher: threading.Thread | None = None

    def open(
        self, suite: str, task: str, *, fleet: str, trees: bool, seed: int = 0
    ) -> HumanSession:
        """Start a trial.

        Args:
            suite: name of the suite.
            task: id of one of its tasks.
            fleet: name of the fleet that leases the machines.
            trees: whether accessibility trees are recorded, as for agents that receive them.
            seed: seed of the task's parameters.

        Raises:
            UnknownNameError: there is no such suite or task.
            CapacityError: too many people are doing tasks.
            StoreError: its run cannot be created.
        """
        driver = PersonDriver()
        agent = CustomSpec(name=AGENT)
        opened = open_suite(suite)
        spec = specify_run(
            opened, agent, tasks=(task,), seed=seed, observation=ObservationSpec(trees=trees)
        )
        with self._lock:
            if sum(not entry.is_over for entry in self._sessions.values()) >= MAX_SESSIONS:
                raise CapacityError(
                    f"{MAX_SESSIONS} people are already doing tasks.",
                    queue_length=0,
                    retry_after_s=60,
                )
            folder = Store(self._settings.runs_dir).create(spec)
            session = HumanSession(folder, opened, driver, fleet, self._settings)
            self._sessions[session.run] = session
            if self._watcher is None:
                self._watcher = threading.Thread(target=self._watch, daemon=True)
                self._watcher.start()
        return session

    def get(self, run: str) -> HumanSession:
        """Return the trial of a run.

        Raises:
            UnknownNameError: no such trial was started since the service started.
        """
        with self._lock:
            if run not in self._sessions:
                raise UnknownNameError.of("trial by hand", run, self._sessions)
            return self._sessions[run]

    def entries(self) -> list[HumanSession]:
        """Return the trials since the service started, latest first."""
        with self._lock:
            return list(self._sessions.values())[::-1]

    def _watch(self) -> None:
        self._stop.wait()
        for session in self.entries():
            session.cancel("The service is stopping.")
