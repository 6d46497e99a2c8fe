"""The script of a stand-in model server."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, ValidationError

from foundation.errors import SpecError

if TYPE_CHECKING:
    from pathlib import Path


def _check_pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as exc:
        raise ValueError(f"invalid pattern: {exc}") from exc
    return text


Pattern = Annotated[str, AfterValidator(_check_pattern)]
"""A regular expression that is searched, ``.`` matching line ends too."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class When(_Part):
    """Conditions on a request; all that are given must hold.

    Attributes:
        turn: 1 for the first request of a conversation: the number of replies in it, plus one.
        text: in what the model was sent since its last reply, tools' outcomes included; groups can be
            used in the reply as ``${1}``.
        system: in the system prompt.
        anywhere: in any text of the request.
        images: number of pictures in the request.
        tool: name of a tool that is declared.
    """

    turn: int | None = None
    text: Pattern | None = None
    system: Pattern | None = None
    anywhere: Pattern | None = None
    images: int | None = None
    tool: str | None = None


class Point(_Part):
    """A place that is found in the last picture, as ``${x}`` and ``${y}`` in the reply.

    Attributes:
        colour: red, green and blue, 0 to 255: the place is the centre of what has this colour.
        unit: what coordinates refer to: px of the picture, a grid or parts of its sides.
        steps: size of the grid.
        shift_px: is added to both, px of the picture: a model that sees badly.
    """

    colour: tuple[int, int, int]
    unit: Literal["pixels", "grid", "ratio"] = "pixels"
    steps: int = 1000
    shift_px: float = 0.0


class Call(_Part):
    """A call of a tool.

    Attributes:
        name: the tool's name; ``computer`` with ``actions`` is a batch of OpenAI's tool.
        args: arguments; a text is sent as it is, which need not be JSON.
    """

    name: str
    args: dict[str, JsonValue] | str = Field(default={}, alias="with")


class UsageCounts(_Part):
    """A usage; a count that is left out is not reported.

    Attributes:
        input: tokens sent, cached ones included.
        output: tokens received, reasoning included.
        cached: of the input.
        reasoning: of the output.
    """

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    reasoning: int | None = None


class ScriptedReply(_Part):
    """What the model says.

    Attributes:
        text: its text.
        reasoning: its reasoning.
        calls: its calls of tools.
        refusal: why it refuses; the rest is then not sent.
        stop: whether the reply was cut off, or withheld by a filter.
        point: place in the picture that the other fields use.
        usage: reported usage: counts, derived from the request's and the reply's length, missing, or
            with values that are no counts.
    """

    text: str = ""
    reasoning: str = ""
    calls: tuple[Call, ...] = ()
    refusal: str = ""
    stop: Literal["end", "length", "filtered"] = "end"
    point: Point | None = None
    usage: UsageCounts | Literal["derived", "missing", "wrong"] = "derived"


class Rule(_Part):
    """A reply and when it is sent.

    Attributes:
        when: conditions; none means always.
        times: how often the rule is used at most; None is not limited.
        reply: what the model says.
        status: HTTP status; with another than 200, `message` is the error.
        message: text of an error.
        retry_after_s: pause that an error asks for, seconds.
        raw: body that is sent instead of a reply, such as malformed JSON.
        delay_s: pause before the first byte, seconds.
        chunk_s: pause between the pieces of a body that arrives slowly, seconds.
        drop: whether the connection is closed within the reply.
    """

    when: When = When()
    times: int | None = Field(default=None, ge=1)
    reply: ScriptedReply = ScriptedReply()
    status: int = Field(default=200, ge=200, le=599)
    message: str = "scripted error"
    retry_after_s: float | None = Field(default=None, ge=0)
    raw: str | None = None
    delay_s: float = Field(default=0.0, ge=0)
    chunk_s: float = Field(default=0.0, ge=0)
    drop: bool = False


class ScriptedMember(_Part):
    """A member of a team, which requests name as their model.

    Attributes:
        key: API key that requests must have; empty if any will do.
        must_see: patterns that each request must contain.
        must_not_see: patterns that no request may contain.
        images: whether requests may contain pictures.
        rules: replies; the first whose conditions hold is sent.
    """

    key: str = ""
    must_see: tuple[Pattern, ...] = ()
    must_not_see: tuple[Pattern, ...] = ()
    images: bool = True
    rules: tuple[Rule, ...] = Field(min_length=1)


class Script(_Part):
    """The whole script.

    Attributes:
        members: members by the name of their model.
    """

    members: dict[str, ScriptedMember] = Field(min_length=1)


def parse_script(values: Any, name: str = "the script") -> Script:  # noqa: ANN401 - parsed YAML
    """Return a script from its values.

    Raises:
        SpecError: it is invalid.
    """
    try:
        return Script.model_validate(values)
    except ValidationError as exc:
        rows = exc.errors(include_url=False, include_input=False)
        lines = [f"{'.'.join(map(str, row['loc'])) or 'script'}: {row['msg']}" for row in rows]
        raise SpecError(f"{name} is not a valid script.", details="\n".join(lines)) from exc


def read_script(path: Path) -> Script:
    """Read a script from a YAML file.

    Raises:
        SpecError: it cannot be read, or is invalid.
    """
    try:
        values = yaml.safe_load(path.read_text())
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as exc:
        raise SpecError(f"The script {path} cannot be read.", details=str(exc)) from exc
    return parse_script(values, str(path))
