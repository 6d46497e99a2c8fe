"""Parsing of amounts of money."""

from __future__ import annotations

import re
from decimal import Decimal

_AMOUNT = re.compile(r"\d+\.\d{2}(?!\d)")


def last_amount(text: str) -> Decimal | None:
    """Return the last amount with two decimals in a text, or None."""
    amounts = _AMOUNT.findall(text)
    return Decimal(amounts[-1]) if amounts else None
