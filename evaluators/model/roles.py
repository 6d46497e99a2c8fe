"""What the roles of a task need, as in files: a kind, or a mapping with more."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Self

from pydantic import Field, GetPydanticSchema, JsonValue, field_validator, model_validator
from pydantic_core import PydanticCustomError
from pydantic_core.core_schema import (
    no_info_after_validator_function,
    no_info_before_validator_function,
    plain_serializer_function_ser_schema,
)

from evaluators.strict import SESSION
from foundation.errors import nearest
from foundation.strict import Strict
from provisioning.registry import registry
from provisioning.resource import ResourceSpec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema


class _Written(Strict):
    """The long form, such as ``{kind: desktop, image: debian-12}``."""

    kind: str
    image: str = Field(
        default="", pattern=r"^([A-Za-z0-9][A-Za-z0-9._-]*(:[A-Za-z0-9][A-Za-z0-9._-]*)?)?$"
    )
    parameters: dict[str, JsonValue] = Field(default_factory=dict)

    @field_validator("kind")
    @classmethod
    def _know_kind(cls, kind: str) -> str:
        kinds = registry().kinds
        if kind not in kinds:
            near = nearest(kind, sorted(kinds))
            hint = f"Did you mean {near[0]}?" if near else f"Known: {', '.join(sorted(kinds))}."
            message = "There is no kind of resource called {kind}. {hint}"
            raise PydanticCustomError("kind", message, {"kind": repr(kind), "hint": hint})
        return kind

    @model_validator(mode="after")
    def _know_parameters(self) -> Self:
        entries = registry().backends_of(self.kind).values()
        known = sorted({name for entry in entries for name in entry.parameters})
        for name, value in self.parameters.items():
            if name not in known:
                near = nearest(name, known)
                hint = (
                    f"Did you mean {near[0]}?" if near else f"Known: {', '.join(known) or 'none'}."
                )
                message = "A {kind} has no parameter {name}. {hint}"
                context = {"kind": self.kind, "name": repr(name), "hint": hint}
                raise PydanticCustomError("parameter", message, context)
            if isinstance(value, str) and "${" in value:
                message = (
                    "The parameter {name} is the same in every trial; {value} is not filled in."
                )
                context = {"name": repr(name), "value": repr(value)}
                raise PydanticCustomError("parameter", message, context)
        return self


def _read(value: object) -> object:
    """Return the long form of a short one: a text is a kind."""
    if isinstance(value, ResourceSpec):
        return asdict(value)
    return {"kind": value} if isinstance(value, str) else value


def _understand(written: _Written) -> ResourceSpec:
    return ResourceSpec(written.kind, written.image, written.parameters)


def _write(spec: ResourceSpec) -> JsonValue:
    """Return the shortest form: tasks that name only kinds keep their digests."""
    image: dict[str, JsonValue] = {"image": spec.image} if spec.image else {}
    parameters: dict[str, JsonValue] = (
        {"parameters": dict(spec.parameters)} if spec.parameters else {}
    )
    return {"kind": spec.kind, **image, **parameters} if image or parameters else spec.kind


def _schema(_source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
    written = no_info_before_validator_function(_read, handler.generate_schema(_Written))
    return no_info_after_validator_function(
        _understand, written, serialization=plain_serializer_function_ser_schema(_write)
    )


Role = Annotated[ResourceSpec, GetPydanticSchema(_schema)]
"""What a role needs; the type of a field."""


def kinds_of(roles: Mapping[str, ResourceSpec]) -> dict[str, str]:
    """Return the kind of each role."""
    return {role: spec.kind for role, spec in roles.items()}


def place_of(roles: Mapping[str, ResourceSpec], role: str | None) -> str | None:
    """Return the place of a role: its kind, or ``session``; None if it is unknown."""
    if role is None or role == SESSION:
        return SESSION
    spec = roles.get(role)
    return None if spec is None else spec.kind
