"""What only the host can find out, recorded there for the doctor in the worker's container."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, ValidationError

from appliance.base.clock import SYSTEM_CLOCK
from appliance.base.files import write_atomic
from appliance.doctor.check import Check, Finding, State

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from appliance.base.clock import Clock
    from appliance.base.settings import Settings
    from appliance.doctor.check import Answer

OF_THE_HOST = frozenset(
    {"kvm", "python", "compose", "qemu", "adb", "mmdebstrap", "build-tools", "ports"}
    | {"archive", "desktop-archive"}
)
"""Checks of programs, files and devices that a container has not, or has others of."""

_log = logging.getLogger(__name__)


class _Record(BaseModel):
    """Findings by name of the check, and when they were made, unix time."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    found_s: float
    findings: dict[str, Finding]


def record_findings(
    answers: Iterable[Answer], settings: Settings, *, clock: Clock = SYSTEM_CLOCK
) -> None:
    """Write down what was found of the host; where it cannot be written, that is logged.

    Args:
        answers: of checks; those that containers can make themselves are left out.
        settings: where the record is; none is made where there is no appliance yet.
        clock: stamps it.
    """
    findings = {answer.name: answer.finding for answer in answers if answer.name in OF_THE_HOST}
    path = _path(settings)
    try:
        if path.parent.is_dir():
            record = _Record(found_s=clock.now_s(), findings=findings)
            write_atomic(path, record.model_dump_json())
    except PermissionError as exc:  # a user without rights may look all the same
        _log.info("what was found of this host is not recorded: %s", exc)
    except OSError as exc:
        _log.warning("what was found of this host could not be recorded: %s", exc)


def with_recorded(checks: Sequence[Check], settings: Settings) -> list[Check]:
    """Return checks for a container: those of the host are answered by what was recorded there."""
    try:
        record = _Record.model_validate_json(_path(settings).read_bytes())
    except (OSError, ValidationError):
        record = _Record(found_s=0.0, findings={})
    return [_recorded(check, record) if check.name in OF_THE_HOST else check for check in checks]


def _recorded(check: Check, record: _Record) -> Check:
    finding = record.findings.get(check.name)
    if finding is None:
        text, resolution = "Only the host can tell.", "Run `mesocosm doctor` there."
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
