"""The error of tasks that are lost."""

from __future__ import annotations

from foundation.errors import MachineError


class TaskLostError(MachineError):
    """A task ended without its last report: its worker, node or host is gone, or it was withdrawn."""

    code = "task_lost"
