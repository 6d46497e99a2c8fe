"""Append measures to a log file, from any process and any layer; `monitoring` reads it.

One JSON object a line: ``{"t": unix_s, "m": name, "v": value, "l": {label: value}}``. The log is
the only coupling between those who measure and Prometheus, so nothing that measures needs a daemon.
"""

from __future__ import annotations

import json
import logging
import math
from typing import TYPE_CHECKING, Literal

from appliance.base.clock import SYSTEM_CLOCK, Clock
from appliance.base.settings import get_settings
from appliance.base.shared_lines import append_line

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
"""Every measure there is; `monitoring.catalog` says what each is and which labels it takes."""

LABEL_CHARS = 120
"""A label's value is cut at this length, so that one line stays one write of less than 4 KiB."""

_log = logging.getLogger(__name__)


class MeasureLog:
    """The writing end of the log in one folder.

    Args:
        folder: where ``measures.jsonl`` is; made when the first line is written.
        clock: stamps the lines.
    """

    def __init__(self, folder: Path, *, clock: Clock = SYSTEM_CLOCK) -> None:
        self.path = folder / "measures.jsonl"
        self._clock = clock

    def record(self, name: Name, value: float = 1.0, **labels: str) -> bool:
        """Append one measure; True when it was written.

        Never raises for a full disk or a missing right: no measure is worth a failed trial. Values
        that are not finite are left out.
        """
        if not math.isfinite(value):
            _log.warning("measure %s is not finite, left out", name)
            return False
        cut = {key: str(text)[:LABEL_CHARS] for key, text in labels.items()}
        row = {"t": round(self._clock.now_s(), 3), "m": name, "v": value, "l": cut}
        try:
            append_line(self.path, (json.dumps(row, separators=(",", ":")) + "\n").encode())
        except OSError as exc:
            _log.warning("measure %s could not be written: %s", name, exc)
            return False
        return True


def record(name: Name, value: float = 1.0, **labels: str) -> bool:
    """Append one measure to this appliance's log; see `MeasureLog.record`."""
    return MeasureLog(get_settings().metrics_dir).record(name, value, **labels)
