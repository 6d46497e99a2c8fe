"""Append measures to a log file, from any process and any layer; `monitoring` reads it.

One JSON object per line: ``{"t": unix_s, "m": name, "v": value, "l": {label: value}}``. The log is
the only coupling between code that measures and Prometheus, so that code needs no daemon.
"""

from __future__ import annotations

import json
import logging
import math
from typing import TYPE_CHECKING, Literal

from foundation.clock import SYSTEM_CLOCK, Clock
from foundation.settings import get_settings
from foundation.shared_lines import append_line

if TYPE_CHECKING:
    from pathlib import Path

Name = Literal[
    "acquire_seconds",
    "boot_seconds",
    "errors_total",
    "evaluator_errors_total",
    "link_errors_total",
    "money_usd_total",
    "resets_total",
    "rewind_seconds",
    "step_seconds",
    "steps_total",
    "tokens_total",
    "trial_seconds",
    "trials_ended_total",
    "verdicts_total",
]
"""All measures; `monitoring.catalog` describes each and its labels."""

LABEL_CHARS = 120
"""Maximum length of a label's value, so that a line is a single write of less than 4 KiB."""

_log = logging.getLogger(__name__)


class MeasureLog:
    """Writer of the log in one folder.

    Args:
        folder: of ``measures.jsonl``; created when the first line is written.
        clock: gives the timestamps.
    """

    def __init__(self, folder: Path, *, clock: Clock = SYSTEM_CLOCK) -> None:
        self.path = folder / "measures.jsonl"
        self._clock = clock

    def record(self, name: Name, value: float = 1.0, **labels: str) -> bool:
        """Append one measure; return whether it was written.

        Never raises if the disk is full or access is denied, so that a measure never makes a trial
        fail. Values that are not finite are dropped.
        """
        if not math.isfinite(value):
            _log.warning("measure %s is not finite and was dropped", name)
            return False
        cut = {key: str(text)[:LABEL_CHARS] for key, text in labels.items()}
        row = {"t": round(self._clock.now_s(), 3), "m": name, "v": value, "l": cut}
        try:
            append_line(self.path, (json.dumps(row, separators=(",", ":")) + "\n").encode())
        except OSError as exc:
            _log.warning("cannot write measure %s: %s", name, exc)
            return False
        return True


def record(name: Name, value: float = 1.0, **labels: str) -> bool:
    """Append one measure to this appliance's log; see `MeasureLog.record`."""
    return MeasureLog(get_settings().metrics_dir).record(name, value, **labels)
