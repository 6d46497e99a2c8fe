"""The process of one job: ``python -m controller.job_process``.

It reads the order from standard input, one line of JSON, and writes reports to standard output. The
end of the input ends the job as cancelled, so that the process does not outlive the one that
started it. What the agent's code prints or reads elsewhere cannot disturb these messages.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING

from controller.executors.messages import (
    Cancellation,
    Ended,
    Refused,
    TrialOrder,
    write_line,
)
from controller.placed_job import execute_order
from foundation.cancel import CancelToken
from foundation.errors import MesocosmError
from foundation.log_file import LogFileHandler
from foundation.logging import configure_logging, log_context, logging_to
from foundation.settings import get_settings

if TYPE_CHECKING:
    from typing import BinaryIO

    from controller.specification.agent import Record

_PROGRAM = "job"

_log = logging.getLogger(__name__)


class _Reports:
    """Writes reports; they are dropped once nobody reads them.

    Args:
        fd: of the pipe.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._lock = threading.Lock()

    def __call__(self, report: Record) -> None:
        with self._lock, contextlib.suppress(BrokenPipeError):
            write_line(self._fd, report)


def main() -> int:
    """Execute the job that is ordered on standard input; return the exit code."""
    # The agent's code gets neither the pipe of the orders nor that of the reports.
    orders, reports = os.fdopen(os.dup(0), "rb", buffering=0), _Reports(os.dup(1))
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123 - its descriptor is needed
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    order = TrialOrder.model_validate_json(orders.readline())
    cancel = CancelToken()
    threading.Thread(
        target=_obey, args=(orders, cancel, order.access.is_bound), name="orders", daemon=True
    ).start()
    configure_logging(verbose=order.access.is_verbose)
    return _execute(order, cancel, reports)


def _execute(order: TrialOrder, cancel: CancelToken, reports: _Reports) -> int:
    settings = get_settings()
    handler = LogFileHandler(settings.logs_dir, _PROGRAM)
    level = "debug" if order.access.is_verbose else settings.log_level
    job = order.job
    with (
        logging_to(handler, level=level),
        log_context(run=order.access.sink.run, trial=f"{job.task}.{job.repeat}"),
    ):
        try:
            result = execute_order(order, settings, cancel=cancel, report=reports)
        except MesocosmError as exc:
            reports(_refused(exc))
            return exc.exit_code
        except Exception as exc:  # noqa: BLE001 - the outermost boundary of the process
            _log.exception("the job ended with an internal error")
            reports(_refused(MesocosmError(f"Internal error: {type(exc).__name__}.", str(exc))))
            return MesocosmError.exit_code
    reports(Ended(result=result))
    return 0


def _refused(error: MesocosmError) -> Refused:
    return Refused(
        code=error.code, brief=error.brief, details=error.details, resolution=error.resolution
    )


def _obey(orders: BinaryIO, cancel: CancelToken, is_bound: bool) -> None:  # noqa: FBT001 - a thread's
    """Cancel the job when this is ordered, or when the process that started it has ended."""
    line = orders.readline()
    if line.endswith(b"\n"):
        cancel.cancel(Cancellation.model_validate_json(line).reason)
        line = orders.readline()
    if line:
        return
    if is_bound:
        # Whoever placed the job has given it up, and repeats it; so do the programs started here.
        os.killpg(0, signal.SIGKILL)
    cancel.cancel("The process that started this trial has ended.")


if __name__ == "__main__":
    sys.exit(main())
