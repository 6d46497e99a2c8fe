"""Findings that need the host, recorded there for the doctor in the worker's container."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, ValidationError

from appliance.doctor.check import Check, Finding, State
from foundation.clock import SYSTEM_CLOCK
from foundation.files import write_atomic

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from appliance.doctor.check import Answer
    from foundation.clock import Clock
    from foundation.settings import Settings

OF_THE_HOST = frozenset(
    {"kvm", "python", "compose", "qemu", "adb", "mmdebstrap", "build-tools", "ports"}
    | {"archive", "desktop-archive"}
)
"""Checks of programs, files and devices that are missing or different in a container."""

_log = logging.getLogger(__name__)


class _Record(BaseModel):
    """Findings by name of the check, and when they were recorded, unix time."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    found_s: float
    findings: dict[str, Finding]


def record_findings(
    answers: Iterable[Answer], settings: Settings, *, clock: Clock = SYSTEM_CLOCK
) -> None:
    """Record findings about the host; log it if they cannot be written.

    Args:
        answers: of checks; those that containers can run themselves are skipped.
        settings: locate the record; nothing is recorded if there is no appliance yet.
        clock: for the timestamp.
    """
    findings = {answer.name: answer.finding for answer in answers if answer.name in OF_THE_HOST}
    path = _path(settings)
    try:
        if path.parent.is_dir():
            record = _Record(found_s=clock.now_s(), findings=findings)
            write_atomic(path, record.model_dump_json())
    except PermissionError as exc:  # users without write access may still run the checks
        _log.info("findings about this host are not recorded: %s", exc)
    except OSError as exc:
        _log.warning("cannot record findings about this host: %s", exc)


def with_recorded(checks: Sequence[Check], settings: Settings) -> list[Check]:
    """Return checks for a container, with recorded findings in place of checks of the host."""
    try:
        record = _Record.model_validate_json(_path(settings).read_bytes())
    except (OSError, ValidationError):
        record = _Record(found_s=0.0, findings={})
    return [_recorded(check, record) if check.name in OF_THE_HOST else check for check in checks]


def _recorded(check: Check, record: _Record) -> Check:
    finding = record.findings.get(check.name)
    if finding is None:
        text, resolution = "Not recorded on the host yet.", "Run `mesocosm doctor` on the host."
        return Check(
            check.name, lambda _settings: Finding(State.WARN, text, resolution), check.needed
        )
    when = f"{datetime.fromtimestamp(record.found_s, tz=UTC):%Y-%m-%d %H:%M} UTC"
    dated = Finding(
        finding.state, f"{finding.cause} (found on the host, {when})", finding.resolution
    )
    return Check(check.name, lambda _settings: dated, check.needed)


def _path(settings: Settings) -> Path:
    return settings.run_dir / "doctor.json"
