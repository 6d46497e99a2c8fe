"""The one way back of machines whose memory cannot be saved: to be made as they were at first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from appliance.base.errors import SnapshotMissingError, UnsupportedError
from provisioning.protocols import READY

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from provisioning.protocols import ResetReport


class ResetOnly:
    """`provisioning.protocols.Snapshots` with ``ready`` as the only snapshot.

    Files without the programs that use them would be half a snapshot; so nothing can be saved.

    Args:
        name: of the machine, for errors.
        renew: brings the machine back and verifies it.
        why: nothing can be saved, one sentence.
    """

    def __init__(self, name: str, renew: Callable[[], ResetReport], *, why: str) -> None:
        self._name = name
        self._renew = renew
        self._why = why

    def save(self, name: str) -> None:
        """Refuse.

        Raises:
            UnsupportedError: always.
        """
        raise UnsupportedError(
            f"{self._name} cannot be saved as {name!r}.",
            details=self._why,
            resolution="Use a desktop VM (MESOCOSM_DESKTOP=vm) where snapshots are needed.",
        )

    def rewind(self, name: str) -> ResetReport:
        """Bring the machine back and verify it.

        Raises:
            SnapshotMissingError: `name` is not ``ready``.
            MachineStartError: it did not come up in time.
            ResetMismatchError: it is not as it was; it must not be used.
        """
        if name != READY:
            raise self._missing(name)
        return self._renew()

    def list_snapshots(self) -> Sequence[str]:
        """Return the names of what can be gone back to."""
        return [READY]

    def delete_snapshot(self, name: str) -> None:
        """Refuse.

        Raises:
            SnapshotMissingError: `name` is not ``ready``.
            UnsupportedError: it is, and is no file that could be deleted.
        """
        if name != READY:
            raise self._missing(name)
        raise UnsupportedError(f"{READY!r} of {self._name} cannot be deleted.", details=self._why)

    def _missing(self, name: str) -> SnapshotMissingError:
        return SnapshotMissingError(
            f"{self._name} has no snapshot called {name!r}.", details=f"It has {READY!r} alone."
        )
