"""Setup operations of this suite; they run on the host before the agent starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mesocosm import put_file, setup

if TYPE_CHECKING:
    from mesocosm import Machine


@setup(on="desktop")
def put_receipts(machine: Machine, folder: str, amounts: list[str]) -> None:
    """Write one receipt for each amount.

    Args:
        machine: the desktop.
        folder: path of the folder.
        amounts: with two decimals.
    """
    for number, amount in enumerate(amounts, 1):
        put_file(machine, f"{folder}/{number}.txt", f"Receipt {number}\nTotal CHF {amount}\n")
