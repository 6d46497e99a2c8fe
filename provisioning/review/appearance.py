"""Checks a guest's icons and fonts with its own toolkit."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, ValidationError

from foundation.errors import LinkProtocolError

if TYPE_CHECKING:
    from provisioning.protocols import Commands

_PYTHON = "/usr/bin/python3"
_TIMEOUT_S = 90.0
_MAX_NAMED = 8


class Appearance(BaseModel):
    """Problems of a desktop's icons and fonts.

    Attributes:
        missing_icons: one line for each stock icon or application icon that does not resolve.
        proportional_fonts: one line for each monospace font whose letters differ in width.
    """

    model_config = ConfigDict(frozen=True, strict=True)

    missing_icons: list[str]
    proportional_fonts: list[str]

    def faults(self) -> tuple[str, ...]:
        """Return one line for each fault; icons beyond the first few are only counted."""
        lines = [f"icon {line}" for line in self.missing_icons[:_MAX_NAMED]]
        if more := len(self.missing_icons) - _MAX_NAMED:
            lines += [f"icons: {more} more do not resolve"] if more > 0 else []
        return (*lines, *(f"font not monospaced: {line}" for line in self.proportional_fonts))


def read_appearance(commands: Commands) -> Appearance:
    """Check a desktop's icons and fonts with its toolkit, as the session's user.

    Args:
        commands: runs programs on the desktop.

    Raises:
        LinkError: the desktop does not answer, or the check cannot run.
    """
    result = commands.run([_PYTHON, "-c", _script()], timeout_s=_TIMEOUT_S)
    reason = result.stderr.decode(errors="replace")[-800:]
    if result.exit_code == 0:
        try:
            return Appearance.model_validate_json(result.stdout)
        except ValidationError as exc:
            reason = str(exc)
    raise LinkProtocolError("The guest's icons and fonts could not be checked.", details=reason)


@cache
def _script() -> str:
    return Path(__file__).with_name("guest_look.py").read_text(encoding="utf-8")
