"""The table of OSWorld's setup types, getters and functions, ``mapping.yaml``."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from controller.importing.errors import NotCarriedError
from controller.importing.report import KINDS
from foundation.strict import Strict
from foundation.yaml_models import parse
from foundation.yaml_source import read_yaml

_FILE = Path(__file__).with_name("mapping.yaml")
Names = Annotated[tuple[str, ...], Field(strict=False)]


class Entry(Strict):
    """What one of OSWorld's names is here; see the file."""

    ours: Names | None = None
    why: Annotated[tuple[str, str], Field(strict=False)] | None = None
    note: str = ""
    extent: str = ""
    share: bool = False
    sudo: bool = False

    @model_validator(mode="after")
    def _decide(self) -> Self:
        if (self.ours is None) == (self.why is None):
            raise PydanticCustomError("entry", "An entry has `ours` or `why`.")
        if self.why and self.why[0] not in KINDS:
            raise PydanticCustomError("kind", "There is no kind {kind}.", {"kind": self.why[0]})
        return self


class Mapping(Strict):
    """The content of the file."""

    setup: dict[str, Entry]
    programs: dict[str, str]
    programs_of_images: dict[str, str]
    applications_of_images: Names
    programs_of_network: Names
    programs_lacking: Names
    getters: dict[str, Entry]
    functions: dict[str, Entry]
    table_rules: dict[str, Entry]


@cache
def mapping() -> Mapping:
    """Return the table."""
    return parse(read_yaml(_FILE), Mapping)


def require(entries: dict[str, Entry], name: str, kind: str) -> Entry:
    """Return an entry that is carried over.

    Args:
        entries: a section of the table.
        name: OSWorld's name.
        kind: kind of the reason if the table does not know it.

    Raises:
        NotCarriedError: it is not carried over, or unknown.
    """
    entry = entries.get(name)
    if entry is None:
        raise NotCarriedError(kind, f"{name} is unknown")
    if entry.why:
        raise NotCarriedError(entry.why[0], f"{name}: {entry.why[1]}")
    return entry
