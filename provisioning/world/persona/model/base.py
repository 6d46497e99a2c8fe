"""What all records of a persona have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Part(BaseModel):
    """A value inside records."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class Record(Part):
    """A record of a persona.

    Attributes:
        id: unique among the records of all personas.
    """

    id: str
