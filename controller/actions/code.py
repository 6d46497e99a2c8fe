"""Code of the agent: a persistent Python kernel and a shell on the desktop, as its user.

What the kernel's `mouse` and `keyboard` do is validated and executed here, like actions: on the path
that all input takes.
"""

from __future__ import annotations

import base64
import io
import json
import logging
from typing import TYPE_CHECKING, Annotated, Any, Literal

from PIL import Image
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from controller.actions import desktop
from controller.actions.arguments import check, understand
from controller.actions.executor import require_on_screen
from controller.observation.results import ActionResult
from evaluators.coordinates import coordinates_in
from evaluators.decorators import action
from evaluators.schema import describe
from foundation.errors import ActionError, GuestCallError, InvalidActionError, LinkProtocolError
from foundation.host_load import stretched

if TYPE_CHECKING:
    from evaluators.schema import Tool
    from provisioning.protocols import Json, Machine

_LOG = logging.getLogger(__name__)

MAX_CODE_CHARS = 100_000
MAX_SECONDS = 120.0
MAX_INPUTS = 1000
"""Most input that one execution may request."""
_START_S = 200.0
_OVERHEAD_S = 15.0
_MAX_PICTURE_CHARS = 3_000_000
_INPUTS: dict[str, Tool] = {
    function.__name__: describe(function)
    for function in (
        desktop.click,
        desktop.double_click,
        desktop.triple_click,
        desktop.right_click,
        desktop.middle_click,
        desktop.move,
        desktop.mouse_down,
        desktop.mouse_up,
        desktop.drag_path,
        desktop.scroll,
        desktop.key,
        desktop.key_down,
        desktop.key_up,
        desktop.type_text,
    )
}

Code = Annotated[str, Field(min_length=1, max_length=MAX_CODE_CHARS)]
Seconds = Annotated[float, Field(ge=1, le=MAX_SECONDS)]


class _End(BaseModel):
    """What the guest sends when code has ended; the guest's user may have forged it."""

    model_config = ConfigDict(strict=True)

    text: str
    status: Literal["ok", "error", "timeout", "restarted"]
    picture: Annotated[str, Field(max_length=_MAX_PICTURE_CHARS)] = ""
    exit_code: int | None = None


class _Request(BaseModel):
    """Input that code requests."""

    model_config = ConfigDict(strict=True)

    do: str
    arguments: dict[str, Any] = Field(alias="with")


@action(on="desktop", group="code")
def run_python(machine: Machine, code: Code, seconds: Seconds = 30) -> ActionResult:
    """Run Python code in a kernel on the desktop that keeps its variables, as your user.

    Returns what it prints and its last value. It offers mouse.click(x, y), mouse.move(x, y),
    mouse.drag((x, y), (x, y)), mouse.scroll(notches), keyboard.type(text), keyboard.press(key) and
    keyboard.hotkey(key, ...).

    Args:
        machine: the desktop.
        code: any Python code; lines that begin with "!" run in a shell.
        seconds: after this time it is interrupted.
    """
    event = _call(machine, "code_begin", {"code": code, "seconds": seconds}, seconds)
    for _ in range(MAX_INPUTS):
        if not isinstance(event, dict) or "input" not in event:
            return _result(_end(event), seconds)
        answer = _perform(machine, str(event["input"]))
        event = _call(machine, "code_continue", {"answer": json.dumps(answer)}, seconds)
    raise InvalidActionError(
        f"The code requested more than {MAX_INPUTS} inputs; it was left waiting.",
        resolution="Request fewer at a time.",
    )


@action(on="desktop", group="code")
def run_shell(machine: Machine, command: Code, seconds: Seconds = 30) -> ActionResult:
    """Run a command in a shell on the desktop that keeps variables and folder, as your user.

    Args:
        machine: the desktop.
        command: for bash; its standard input is empty.
        seconds: after this time it is interrupted, then killed.
    """
    reply = _call(machine, "shell", {"command": command, "seconds": seconds}, seconds)
    return _result(_end(reply), seconds)


def _call(machine: Machine, op: str, params: dict[str, Json], seconds: float) -> Json:
    """Call the guest's helper for code.

    Raises:
        ActionError: there is none on this desktop, or the agent's code has ended it.
    """
    timeout_s = stretched(_START_S + seconds + _OVERHEAD_S)
    try:
        return machine.link.call(op, params, timeout_s=timeout_s)
    except GuestCallError as exc:
        if exc.kind == "bad_params":
            raise InvalidActionError("The code cannot be run.", exc.details) from exc
        if exc.kind in {"unsupported", "worker_died", "timeout", "failed"}:
            raise ActionError("The code could not be run to its end.", exc.details[:500]) from exc
        raise


def _perform(machine: Machine, text: str) -> dict[str, Json]:
    """Perform input that code requests; return what its call returns or raises."""
    try:
        request = _Request.model_validate_json(text)
    except ValidationError:
        return {"error": "That is no request for input."}
    tool = _INPUTS.get(request.do)
    if tool is None:
        return {"error": f"There is no input called {request.do[:60]!r}."}
    try:
        args = check(tool, understand(tool, request.arguments).args)
        require_on_screen(coordinates_in(tool, args), machine.screen.size())
        tool.mark.function(machine, **args)
    except ActionError as exc:
        return {"error": str(exc)}
    _LOG.debug("code requested %s", request.do)
    return {}


def _end(reply: Json) -> _End:
    try:
        return _End.model_validate(reply)
    except ValidationError as exc:
        raise LinkProtocolError("The probe sent an invalid reply.", str(exc)[:500]) from exc


def _result(end: _End, seconds: float) -> ActionResult:
    """Return the result for the agent, with a last line about its end."""
    notes = {
        "timeout": f"[interrupted after {seconds:g} s]",
        "restarted": "[restarted]",
        "error": f"[exit code {end.exit_code}]" if end.exit_code is not None else "[failed]",
    }
    lines = [end.text.rstrip("\n"), notes.get(end.status, "")]
    text = "\n".join(line for line in lines if line) or "[no output]"
    return ActionResult(text, _png(end.picture))


def _png(encoded: str) -> bytes:
    """Return a picture that the guest has sent; empty if it is none."""
    if not encoded:
        return b""
    try:
        data = base64.b64decode(encoded, validate=True)
        with Image.open(io.BytesIO(data), formats=["PNG"]) as image:
            image.verify()
    except (ValueError, OSError, SyntaxError):
        return b""
    return data
