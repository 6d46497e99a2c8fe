"""Actions on the clipboard of a desktop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from controller.observation.results import ActionResult
from evaluators.decorators import action
from foundation.errors import ActionError, GuestCallError, InvalidActionError

if TYPE_CHECKING:
    from provisioning.protocols import Machine

_MAX_CHARS = 100_000
_TIMEOUT_S = 10.0
# A selection belongs to a program, so that xclip stays behind; it must not keep our pipes open.
_COPY = ["/bin/sh", "-c", "exec xclip -selection clipboard -in > /dev/null 2>&1"]
_PASTE = ["xclip", "-selection", "clipboard", "-out", "-target", "UTF8_STRING"]


@action(on="desktop")
def read_clipboard(machine: Machine) -> ActionResult:
    """Return the text in the clipboard.

    Args:
        machine: the desktop.
    """
    result = machine.run(_PASTE, timeout_s=_TIMEOUT_S)
    if result.exit_code != 0:
        return ActionResult("The clipboard has no text.")
    return ActionResult(result.text)


@action(on="desktop")
def write_clipboard(machine: Machine, text: Annotated[str, Field(max_length=_MAX_CHARS)]) -> None:
    """Put a text into the clipboard, as if it had been copied.

    Args:
        machine: the desktop.
        text: any Unicode text.
    """
    try:
        data = text.encode()
    except UnicodeEncodeError as exc:
        raise InvalidActionError("The text has characters that are not valid Unicode.") from exc
    try:
        result = machine.run(_COPY, input=data, timeout_s=_TIMEOUT_S)
    except GuestCallError as exc:
        raise ActionError("The clipboard did not take the text.", exc.details) from exc
    if result.exit_code != 0:
        raise ActionError("The clipboard did not take the text.", result.text[:200])
