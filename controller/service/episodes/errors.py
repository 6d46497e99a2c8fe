"""Errors of externally driven episodes; `api.errors` maps them to status codes."""

from __future__ import annotations

from foundation.errors import MesocosmError, UsageError


class CapacityError(MesocosmError):
    """No more episodes can be opened now.

    Args:
        brief: one line.
        queue_length: number of waiting callers, including this one.
        retry_after_s: seconds until the caller should retry.
    """

    code = "no_capacity"

    def __init__(self, brief: str, *, queue_length: int, retry_after_s: int) -> None:
        super().__init__(brief, resolution=f"Retry in {retry_after_s} s with the same key.")
        self.queue_length = queue_length
        self.retry_after_s = retry_after_s


class InfrastructureError(MesocosmError):
    """Machines or their host failed; this does not reflect on the agent."""

    code = "infrastructure"


class TaskFaultError(MesocosmError):
    """The task or one of its evaluators is faulty; this does not reflect on the agent."""

    code = "task_fault"


class DeadlineError(MesocosmError):
    """The operation did not finish within the request's deadline, and continues."""

    code = "deadline"


class EpisodeOverError(UsageError):
    """The episode has ended: it was closed, was cancelled, expired, or is done."""

    code = "episode_over"


class EpisodeBusyError(UsageError):
    """Another step of the episode is running, or the episode is not open yet."""

    code = "episode_busy"


class ReusedIdError(UsageError):
    """An id was already used for something else."""

    code = "reused_id"


class CommandsRefusedError(UsageError):
    """The episode was not opened for commands, or not for those of this user."""

    code = "commands_refused"
