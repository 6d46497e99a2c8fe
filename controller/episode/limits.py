"""Cut trials off: steps, wall time, repetition, refused actions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.episode.result import Reason

if TYPE_CHECKING:
    from appliance.base.clock import Clock
    from controller.actions.space import Action
    from evaluators.model.task import Limits


class EndTrial(Exception):  # noqa: N818 - the end of a trial is no error
    """Leaves a trial's loop.

    Args:
        reason: why.
        detail: in words; empty when the reason says it all.
        is_conclusive: False when what ended the trial says nothing about the agent.
    """

    def __init__(self, reason: Reason, detail: str = "", *, is_conclusive: bool = True) -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail
        self.is_conclusive = is_conclusive


class Guard:
    """Counts what limits speak of; every method raises `EndTrial` when one is reached.

    Args:
        limits: of the task.
        clock: whose time counts, from now on.

    Attributes:
        steps: actions carried out.
    """

    def __init__(self, limits: Limits, clock: Clock) -> None:
        self._limits = limits
        self._clock = clock
        self._deadline_s = clock.monotonic_s() + limits.seconds
        self._refused = 0
        self._repeated = 0
        self._last: Action | None = None
        self.steps = 0

    def check_time(self) -> None:
        """End the trial when its time is up."""
        if self._clock.monotonic_s() >= self._deadline_s:
            raise EndTrial(Reason.TIME_LIMIT, f"{self._limits.seconds:g} s are over.")

    def count_refusal(self, why: str) -> None:
        """Count an action that was not carried out; carried out ones start the count anew."""
        self._refused += 1
        if self._refused >= self._limits.invalid_actions:
            raise EndTrial(Reason.INVALID_ACTION, f"{self._refused} in a row; the last: {why}")

    def count_action(self, action: Action, *, has_changed: bool) -> None:
        """Count an action that was carried out, before its effect is judged.

        Args:
            action: what was done.
            has_changed: whether any screen looks different now.
        """
        self.steps += 1
        self._refused = 0
        self._repeated = 1 if has_changed or action != self._last else self._repeated + 1
        self._last = action

    def check_action(self) -> None:
        """End the trial when the action just judged was one too many."""
        if self._repeated >= self._limits.repetitions:
            raise EndTrial(
                Reason.REPETITION_LIMIT, f"{self._repeated} times the same, and nothing changed."
            )
        if self.steps >= self._limits.steps:
            raise EndTrial(Reason.STEP_LIMIT, f"{self.steps} steps are done.")
        self.check_time()
