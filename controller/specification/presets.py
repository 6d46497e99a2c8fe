"""Observations by name, and as users write them: ``crab``, ``marks``, ``image.width=1024``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml
from pydantic import BaseModel, ValidationError

from controller.specification.observation import MarksSpec, ObservationSpec, TreeTextSpec
from foundation.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from controller.specification.run import ActionSetName

CRAB_PROMPT = "icon.logo."
"""What CRAB lets GroundingDINO search. Source: arXiv 2407.01511, section 5.1."""

PRESETS = {
    "screenshot": ObservationSpec(),
    "marks": ObservationSpec(marks=MarksSpec()),
    "tree": ObservationSpec(screenshots=False, tree_text=TreeTextSpec()),
    "screenshot+tree": ObservationSpec(tree_text=TreeTextSpec()),
    "crab": ObservationSpec(
        marks=MarksSpec(
            sources=("icons", "text"),
            engine="easyocr",
            detector="groundingdino",
            prompt=CRAB_PROMPT,
            is_stable=False,
        ),
        environments=True,
    ),
}
"""Observations by name; ``screenshot`` is what every run has by default."""


@dataclass(frozen=True, slots=True)
class Profile:
    """What a published benchmark lets agents see and remember, and how long they may take.

    Attributes:
        observe: options of `parse_observation`.
        history: turns in each request to a model, with the present one, and their screenshots; None for
            the usual numbers.
        turns: limit of turns; None for that of the task.
        steps: limit of actions, likewise.
        action_set: the actions that they have.
    """

    observe: tuple[str, ...] = ()
    history: int | None = None
    turns: int | None = None
    steps: int | None = None
    action_set: ActionSetName = "own"


PROFILES = {
    "": Profile(),
    "crab": Profile(("crab",), history=3, turns=15, steps=300, action_set="crab"),
}
"""Profiles by name; the first changes nothing. CRAB limits turns alone: 300 actions are never the limit.

Source: CRAB, arXiv 2407.01511, section 5.1 and table 2."""


def parse_observation(options: Iterable[str]) -> ObservationSpec:
    """Return the observation that options describe; each changes what is before it.

    Args:
        options: names of `PRESETS`, or ``field=value`` with the name of a field of `ObservationSpec`,
            such as ``marks=true``, ``image.format=webp``, ``marks.sources=[tree,text]``.

    Raises:
        UnknownNameError: there is no such preset or field.
        UsageError: a value is invalid.
    """
    values: dict[str, Any] = {}
    for option in options:
        name, separator, text = option.partition("=")
        if separator:
            _put(values, name.strip(), _value(option, text))
        elif name in PRESETS:
            values = PRESETS[name].model_dump(mode="json")
        else:
            raise UnknownNameError.of(
                "observation", name, [*PRESETS, *(f"{field}=" for field in fields())]
            )
    try:
        return ObservationSpec.model_validate(values)
    except ValidationError as exc:
        rows = exc.errors(include_url=False, include_input=False)
        details = "\n".join(f"{'.'.join(map(str, row['loc']))}: {row['msg']}" for row in rows)
        raise UsageError("The observation is invalid.", details=details) from exc


def fields() -> list[str]:
    """Return the names of all fields, those of parts as ``part.field``."""
    return list(_fields(ObservationSpec))


def _fields(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    for name, field in model.model_fields.items():
        yield prefix + name
        for part in _parts(field.annotation):
            yield from _fields(part, f"{prefix}{name}.")


def _parts(annotation: Any) -> Iterator[type[BaseModel]]:  # noqa: ANN401 - a type
    for kind in (annotation, *getattr(annotation, "__args__", ())):
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield kind


def _value(option: str, text: str) -> Any:  # noqa: ANN401 - YAML
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as exc:
        raise UsageError(f"The value of {option!r} is not YAML.", details=str(exc)) from exc


def _put(values: dict[str, Any], name: str, value: object) -> None:
    if name not in fields():
        raise UnknownNameError.of("field of an observation", name, fields())
    part, _, field = name.partition(".")
    if not field:
        values[part] = value
        return
    known = values.get(part)
    values[part] = {**(known if isinstance(known, dict) else {}), field: value}
