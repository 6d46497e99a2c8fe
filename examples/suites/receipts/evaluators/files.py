"""Desktop evaluators; they run in guests with Python 3.9 and its standard library."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from mesocosm import MachinePath, evaluator, names_in, read_text

from .amounts import last_amount

if TYPE_CHECKING:
    from mesocosm import Guest


@evaluator(on="desktop")
def receipts_total_is(guest: Guest, folder: MachinePath, report: MachinePath) -> bool:
    """Return whether a report states the sum of the amounts of all receipts in a folder.

    It does not if the folder has no receipts or a receipt has no amount.

    Example:
        ``{on: desktop, check: receipts_total_is, with: {folder: ~/Receipts, report: ~/total.txt}}``

    Args:
        guest: the desktop.
        folder: path of the folder of receipts.
        report: path of the report, whose last amount counts.
    """
    total = Decimal(0)
    for name in names_in(guest, folder) or []:
        amount = last_amount(read_text(guest, f"{folder}/{name}") or "")
        if amount is None:
            return False
        total += amount
    return total > 0 and last_amount(read_text(guest, report) or "") == total
