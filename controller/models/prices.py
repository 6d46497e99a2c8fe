"""The price tables: the shipped one, and one of the user's own that precedes it."""

from __future__ import annotations

from datetime import date  # noqa: TC003 - read by pydantic
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from foundation.errors import SpecError

if TYPE_CHECKING:
    from collections.abc import Iterable

_SHIPPED = Path(__file__).with_name("prices.yaml")
_HOSTS = {
    "anthropic": "api.anthropic.com",
    "google": "generativelanguage.googleapis.com",
    "openai": "api.openai.com",
}
"""Hosts of the vendors whose prices are shipped: other servers of their models have other prices."""


class Price(BaseModel):
    """A row of a price table.

    Attributes:
        vendor: anthropic, google or openai for requests to the vendor itself; ``*`` for any server.
        model: pattern of the model's name, in lower case.
        since: first day on which it holds.
        input: price of a million tokens sent, US dollars.
        output: price of a million tokens received, US dollars.
        cached: price of a million tokens sent that were cached; None if they cost as much as others.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    vendor: str = "*"
    model: str
    since: date = Field(alias="from")
    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached: float | None = Field(default=None, ge=0)


_ROWS = TypeAdapter(tuple[Price, ...])


def find_price(model: str, base_url: str, day: date, own: Path | None = None) -> Price | None:
    """Return the price of a model on a day; None if no table has it.

    Args:
        model: its name.
        base_url: address of its API.
        day: the day.
        own: the user's own table.

    Raises:
        SpecError: the user's table cannot be read, or is invalid.
    """
    host = _host(base_url)
    vendor = next((name for name, known in _HOSTS.items() if host == known), "")
    for rows in (() if own is None else read_prices(own), _shipped()):
        if found := _best(rows, model, vendor, day):
            return found
    return None


def read_prices(path: Path) -> tuple[Price, ...]:
    """Read a price table.

    Raises:
        SpecError: it cannot be read, or is invalid.
    """
    try:
        return _ROWS.validate_python(yaml.safe_load(path.read_text()))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as exc:
        raise SpecError(f"The price table {path} cannot be read.", details=str(exc)) from exc
    except ValidationError as exc:
        rows = exc.errors(include_url=False, include_input=False)
        lines = [f"{'.'.join(map(str, row['loc']))}: {row['msg']}" for row in rows]
        raise SpecError(f"The price table {path} is invalid.", details="\n".join(lines)) from exc


@cache
def _shipped() -> tuple[Price, ...]:
    return read_prices(_SHIPPED)


def _host(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _best(rows: Iterable[Price], model: str, vendor: str, day: date) -> Price | None:
    """Return the row with the longest matching pattern, and of these the latest."""
    name = model.lower()
    matching = [
        row
        for row in rows
        if row.vendor in {"*", vendor} and row.since <= day and fnmatchcase(name, row.model.lower())
    ]
    return max(matching, key=lambda row: (len(row.model), row.since), default=None)
