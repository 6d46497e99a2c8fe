"""What can go wrong with an episode that is driven from outside; `api.errors` has the status codes."""

from __future__ import annotations

from appliance.base.errors import MesocosmError, UsageError


class CapacityError(MesocosmError):
    """No further episode can be opened now.

    Args:
        brief: one line.
        queue_length: who waits for an episode, whoever gets this error included.
        retry_after_s: when to ask again.
    """

    code = "no_capacity"

    def __init__(self, brief: str, *, queue_length: int, retry_after_s: int) -> None:
        super().__init__(brief, resolution=f"Ask again in {retry_after_s} s with the same key.")
        self.queue_length = queue_length
        self.retry_after_s = retry_after_s


class InfrastructureError(MesocosmError):
    """Machines or their host failed: this says nothing about whoever acts."""

    code = "infrastructure"


class TaskFaultError(MesocosmError):
    """The task or one of its evaluators is wrong: this says nothing about whoever acts."""

    code = "task_fault"


class DeadlineError(MesocosmError):
    """What was asked for goes on, and was not done in the time that the request gave it."""

    code = "deadline"


class EpisodeOverError(UsageError):
    """The episode has ended: it was closed, cancelled, was idle for too long, or is done."""

    code = "episode_over"


class EpisodeBusyError(UsageError):
    """Another step of the episode is being carried out."""

    code = "episode_busy"


class ReusedIdError(UsageError):
    """An id was used before, for something else."""

    code = "reused_id"
