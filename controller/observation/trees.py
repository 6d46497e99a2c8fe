"""Accessibility trees for observations: a tree that cannot be read is empty, with its reason."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from foundation.errors import LinkClosedError, LinkError
from provisioning.protocols import Bounds, TreeCaching

if TYPE_CHECKING:
    from collections.abc import Mapping

    from provisioning.protocols import Element, Machine

_log = logging.getLogger(__name__)
_DESKTOP = "desktop"


@dataclass(frozen=True, slots=True)
class TreeReading:
    """An accessibility tree.

    Attributes:
        elements: its visible elements in document order.
        fault: why it could not be read; empty if it was.
    """

    elements: tuple[Element, ...] = ()
    fault: str = ""


def read_tree(machine: Machine) -> TreeReading:
    """Read a machine's tree.

    A machine reads one tree at a time and caches it until a program reports a change.

    Args:
        machine: the machine.

    Raises:
        LinkClosedError: the machine is gone.
    """
    try:
        tree = machine.tree
        if isinstance(tree, TreeCaching):
            return TreeReading(tuple(tree.recent_elements()))
        return TreeReading(tuple(tree.elements()))
    except LinkClosedError:
        raise
    except LinkError as exc:
        _log.warning("%s: its tree cannot be read: %s", machine.info.machine_id, exc)
        return TreeReading(fault=exc.brief)


def read_stack(machine: Machine) -> tuple[Bounds, ...]:
    """Return the bounds of a desktop's windows from bottom to top; empty if they are not known.

    Raises:
        LinkClosedError: the machine is gone.
    """
    if machine.info.kind != _DESKTOP:
        return ()
    try:
        rows = cast("list[Mapping[str, Any]]", machine.link.call("windows"))
        return tuple(_bounds(row["geometry"]) for row in rows)
    except LinkClosedError:
        raise
    except (LinkError, KeyError, TypeError, ValueError) as exc:
        _log.debug("%s: windows: %s", machine.info.machine_id, exc)
        return ()


def _bounds(geometry: Any) -> Bounds:  # noqa: ANN401 - as the probe sends it
    left, top, width, height = geometry
    return Bounds(left, top, left + width, top + height)
