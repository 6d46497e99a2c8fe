"""JSON schemas of marked functions, and strict validation of arguments."""

from __future__ import annotations

import inspect
import json
import re
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, get_args, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from evaluators import guest_paths
from evaluators.decorators import MACHINE_PATH, SUITE_FILE, Mark, mark_of
from evaluators.desktop import urls
from foundation.errors import SpecError, UnknownNameError
from foundation.strict import is_own_error

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pydantic.fields import FieldInfo

    from foundation.errors import MesocosmError
    from provisioning.protocols import Json

_SECTION = re.compile(
    r"^(Args|Returns|Raises|Yields|Attributes|Example|Examples|Source|Note):\s*(.*)$"
)
_PARAMETER = re.compile(r"^(\*{0,2}\w+)(?: \([^)]*\))?:\s*(.*)$")

_SHOWN_CHARS = 200
_WANTS_TEXT = ("string_type", "literal_error")
"""Pydantic's errors for a value that is not text where text is expected."""


class FaultKind(Enum):
    """What is wrong with an argument."""

    VALUE = auto()
    MISSING = auto()
    UNKNOWN = auto()


class Fault(NamedTuple):
    """An error in arguments.

    Attributes:
        argument: name of the argument, known or not; empty if the error is not about one argument.
        message: description of the error.
        kind: what is wrong.
    """

    argument: str
    message: str
    kind: FaultKind = FaultKind.VALUE


@dataclass(frozen=True, slots=True)
class Tool:
    """A marked function for its callers.

    Attributes:
        mark: the mark, with the function and its place.
        description: text of the docstring before its first section.
        arguments: pydantic model of its arguments, without the subject; names are aliases of its
            fields, so that an argument may be called ``schema`` or ``copy``.
    """

    mark: Mark
    description: str
    arguments: type[BaseModel]

    @property
    def name(self) -> str:
        """The function's name."""
        return self.mark.name

    @property
    def on(self) -> str:
        """The function's place: ``desktop``, ``phone`` or ``session``."""
        return self.mark.on

    def parameters(self) -> dict[str, Any]:
        """Return the JSON schema of the arguments: an object without additional properties."""
        schema = self.arguments.model_json_schema()
        schema.pop("title", None)
        for entry in schema.get("properties", {}).values():
            entry.pop("title", None)
        return schema

    def declaration(self) -> dict[str, Any]:
        """Return name, description and parameters: what its callers know of it, as data."""
        return {
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters(),
        }

    def check(
        self, args: Mapping[str, Json], *, error: type[MesocosmError] = SpecError
    ) -> dict[str, Any]:
        """Validate arguments and return them for the function, with defaults.

        Types are strict: ``"3"`` is not an int and 1 is not a bool.

        Args:
            args: arguments from a model or a task file.
            error: class of the error to raise, such as `InvalidActionError` for agents.

        Raises:
            MesocosmError: there are wrong arguments; the class is `error`, the brief has the first
                one, the details have a line for each further one.
        """
        try:
            model = self._read(args)
        except (TypeError, ValueError) as exc:
            raise self._refusal(_faults(self, exc), error) from exc
        return {
            _name(info): getattr(model, key) for key, info in self.arguments.model_fields.items()
        }

    def marked(self, mark: str) -> tuple[str, ...]:
        """Return the names of the arguments whose type, or part of it, has a mark, such as `SUITE_FILE`."""
        fields = self.arguments.model_fields.values()
        return tuple(_name(info) for info in fields if mark in _marks_of(info))

    def faults(self, args: Mapping[str, Json]) -> list[Fault]:
        """Return the errors in arguments, as reported by `check`; empty if there are none.

        Relative paths and wrong URLs are errors in task files, so they are included; `check` leaves
        them to the evaluator.
        """
        faults: list[Fault] = []
        try:
            self._read(args)
        except (TypeError, ValueError) as exc:
            faults = _faults(self, exc)
        return faults + self._relative_paths(args) + self._wrong_urls(args)

    def text_positions(self, args: Mapping[str, Json]) -> list[tuple[str | int, ...]]:
        """Return the positions where an argument is not text and text is accepted; parts after the value name types."""
        try:
            self._read(args)
        except ValidationError as exc:
            return [row["loc"] for row in exc.errors() if row["type"] in _WANTS_TEXT]
        except (TypeError, ValueError):
            return []
        return []

    def _relative_paths(self, args: Mapping[str, Json]) -> list[Fault]:
        if self.mark.kind != "evaluator":
            return []
        return [
            Fault(name, f"{name}: {guest_paths.advice(value, self.on)}")
            for name in self.marked(MACHINE_PATH)
            if isinstance(value := args.get(name), str) and guest_paths.is_relative(value, self.on)
        ]

    def _wrong_urls(self, args: Mapping[str, Json]) -> list[Fault]:
        return [
            Fault(name, f"{name}: {message}.")
            for mark in urls.CHECKS
            for name in self.marked(mark)
            if isinstance(value := args.get(name), str) and (message := urls.complaint(mark, value))
        ]

    def _read(self, args: Mapping[str, Json]) -> BaseModel:
        return self.arguments.model_validate_json(json.dumps(dict(args)), strict=True)

    def _refusal(self, faults: list[Fault], error: type[MesocosmError]) -> MesocosmError:
        return error(
            f"Wrong arguments for {self.name}: {faults[0].message}",
            details="\n".join(fault.message for fault in faults[1:]),
            resolution=self.usage,
        )

    @property
    def usage(self) -> str:
        """Description of its arguments."""
        known = ", ".join(
            f"{_name(info)}{'' if info.is_required() else ' (optional)'}"
            for info in self.arguments.model_fields.values()
        )
        return f"{self.name} takes: {known or 'no arguments'}."


def describe(function: Callable[..., Any]) -> Tool:
    """Read a marked function's signature and Google docstring.

    Raises:
        SpecError: the function is not marked, a parameter has no type or no description, or an
            evaluator of desktops takes a file of the suite.
    """
    mark = mark_of(function)
    if mark is None:
        raise SpecError(f"{function!r} is not a marked function.")
    return _describe(mark)


def forget() -> None:
    """Discard cached signatures, after a change of types that they use."""
    _describe.cache_clear()


@cache
def _describe(mark: Mark) -> Tool:
    text, described = read_docstring(inspect.getdoc(mark.function) or "")
    parameters = list(inspect.signature(mark.function).parameters.values())[1:]
    hints = _hints(mark.function, [parameter.name for parameter in parameters])
    fields: dict[str, Any] = {}
    for number, parameter in enumerate(parameters):
        if parameter.name not in hints or parameter.name not in described:
            raise SpecError(
                f"Parameter {parameter.name!r} of {mark.name} has no type or no line in `Args:`."
            )
        default = ... if parameter.default is parameter.empty else parameter.default
        info = Field(default, alias=parameter.name, description=described[parameter.name])
        fields[f"argument_{number}"] = (hints[parameter.name], info)
    model = create_model(
        mark.name, __config__=ConfigDict(extra="forbid", frozen=True), __doc__=None, **fields
    )
    tool = Tool(mark, text, model)
    if (mark.kind, mark.on) == ("evaluator", "desktop") and (names := tool.marked(SUITE_FILE)):
        raise SpecError(
            f"{mark.name} runs in the desktop, which has no files of the suite ({names[0]!r}).",
            resolution="Evaluate it with on='documents'.",
        )
    return tool


def _hints(function: Callable[..., Any], names: list[str]) -> dict[str, Any]:
    """Resolve only the annotations of `names`, because the subject's type may not exist on the host."""
    wanted = {
        name: function.__annotations__[name] for name in names if name in function.__annotations__
    }
    holder = type("Arguments", (), {"__annotations__": wanted})
    return get_type_hints(holder, globalns=function.__globals__, include_extras=True)


def read_docstring(doc: str) -> tuple[str, dict[str, str]]:
    """Split a Google docstring.

    Args:
        doc: docstring, cleaned by `inspect.getdoc`.

    Returns:
        The text before the first section, and the description of each parameter.
    """
    head: list[str] = []
    described: dict[str, list[str]] = {}
    section = current = ""
    for line in doc.splitlines():
        if start := _SECTION.match(line):
            section, current = start[1], ""
        elif not section:
            head.append(line)
        elif section == "Args":
            stripped = line.strip()
            indent = len(line) - len(line.lstrip())
            entry = _PARAMETER.match(stripped)
            if entry and indent <= 4:  # noqa: PLR2004  (deeper lines go on with the entry)
                current = entry[1].lstrip("*")
                described[current] = [entry[2]]
            elif stripped and current:
                described[current].append(stripped)
    joined = {name: " ".join(lines).strip() for name, lines in described.items()}
    return _unwrap(head), joined


def _unwrap(lines: list[str]) -> str:
    paragraphs = "\n".join(lines).strip().split("\n\n")
    return "\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def _name(info: FieldInfo) -> str:
    return info.alias or ""


def _marks_of(info: FieldInfo) -> list[Any]:
    """Return the metadata of an argument's type and, for ``X | None``, of its parts."""
    parts = (getattr(part, "__metadata__", ()) for part in get_args(info.annotation))
    return [*info.metadata, *chain.from_iterable(parts)]


def _faults(tool: Tool, exc: Exception) -> list[Fault]:
    if not isinstance(exc, ValidationError):
        return [Fault("", str(exc))]
    rows = [dict(row) for row in exc.errors(include_url=False)]
    rows.sort(key=lambda row: row["type"] != "extra_forbidden")  # explains the rest
    return [_fault(tool, row) for row in rows]


def _fault(tool: Tool, row: dict[str, Any]) -> Fault:
    model = tool.arguments
    name = ".".join(str(part) for part in row["loc"]) or "arguments"
    argument = str(row["loc"][0]) if row["loc"] else ""
    if row["type"] == "extra_forbidden":
        unknown = UnknownNameError.of("argument", name, map(_name, model.model_fields.values()))
        return Fault(argument, f"{unknown.brief} {unknown.resolution}", FaultKind.UNKNOWN)
    if row["type"] == "missing":
        message = f"{name} is missing{_described(model, argument)}."
        return Fault(argument, message, FaultKind.MISSING)
    if row["type"] == "string_pattern_mismatch":
        return Fault(argument, f"{name}: {_unfit(tool, argument, row)}")
    if is_own_error(row["type"]):
        return Fault(argument, f"{name}: {row['msg']}")
    return Fault(argument, f"{name}: {row['msg']}, not {_shortened(row['input'])}.")


def _described(model: type[BaseModel], argument: str) -> str:
    """Return the description of an argument, after a colon."""
    text = next((i.description for i in model.model_fields.values() if _name(i) == argument), "")
    return f": {text.rstrip('.')}" if text else ""


def _unfit(tool: Tool, argument: str, row: dict[str, Any]) -> str:
    """Return a message about a text that does not match the pattern of its argument."""
    if row["ctx"]["pattern"] == guest_paths.PATTERN:
        return guest_paths.advice(str(row["input"]), tool.on)
    fields = {_name(info): info for info in tool.arguments.model_fields.values()}
    wanted = (fields[argument].description or "").rstrip(".")
    return f"{_shortened(row['input'])} does not have the expected format: {wanted}."


def _shortened(value: object) -> str:
    """Return a value as JSON, without its middle part if it is long."""
    text = json.dumps(value, default=str)
    if len(text) <= _SHOWN_CHARS:
        return text
    half = _SHOWN_CHARS // 2
    return f"{text[:half]} ... {text[-half:]} ({len(text)} characters as JSON)"
