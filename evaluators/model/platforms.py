"""Platform of a task or subtask: the machines that it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from provisioning.resource import DESKTOP, PHONE

if TYPE_CHECKING:
    from collections.abc import Collection

Platform = Literal["desktop", "phone", "cross", "other"]
"""Desktops, phones, both, or neither."""
PLATFORMS: tuple[Platform, ...] = ("desktop", "phone", "cross", "other")


def platform_of(kinds: Collection[str]) -> Platform:
    """Return the platform of a task with machines of these kinds; worlds do not count."""
    match DESKTOP in kinds, PHONE in kinds:
        case True, True:
            return "cross"
        case True, False:
            return "desktop"
        case False, True:
            return "phone"
        case _:
            return "other"
