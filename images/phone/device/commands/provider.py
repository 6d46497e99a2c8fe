"""A provider behind a ``content://`` address."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Union

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from images.phone.device.phone import Phone
    from images.phone.device.store.database import Row

Value = Union[None, int, float, str]  # noqa: UP007 - evaluated by Python 3.10


@dataclass(frozen=True)
class Provider:
    """One table of a provider.

    Attributes:
        columns: columns of a query.
        rows: returns all rows.
        insert: adds a row.
        update: changes a row by its ID.
        delete: removes a row by its ID.
    """

    columns: tuple[str, ...]
    rows: Callable[[Phone], list[Row]]
    insert: Callable[[Phone, Mapping[str, Value]], object]
    update: Callable[[Phone, int, Mapping[str, Value]], object]
    delete: Callable[[Phone, int], object]
