"""Where environments come from: the machines of one trial, rewound, verified and then given back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

    from provisioning.protocols import Kind, Machine, ResetReport

LEASE_S = 6 * 3600.0
"""How long a machine is lent at most where nothing else is said."""


@dataclass(frozen=True, slots=True)
class Environment:
    """The machines of one task, by role.

    Attributes:
        machines: ready to act on, by role.
        resets: how each came back to its snapshot, by role.
    """

    machines: dict[str, Machine]
    resets: dict[str, ResetReport] = field(default_factory=dict)


@runtime_checkable
class Fleet(Protocol):
    """Whoever hands out machines."""

    def lease(
        self, roles: Mapping[str, Kind], *, deadline_s: float = LEASE_S
    ) -> AbstractContextManager[Environment]:
        """Hand out one machine a role for the length of a block.

        Each is rewound to its snapshot ``ready``, verified, and its clock set. When the block
        ends, however it ends, the machines go back.

        Args:
            roles: the kind of machine each role needs.
            deadline_s: machines that are in use longer are stopped, whatever uses them.

        Raises:
            MachineError: no machine of a kind can be had, or a rewind failed.
        """
        ...
