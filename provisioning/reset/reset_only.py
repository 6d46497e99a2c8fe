"""Snapshots of machines whose memory cannot be saved: they can only be reset to ``ready``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foundation.errors import SnapshotMissingError, UnsupportedError
from provisioning.protocols import READY

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from provisioning.protocols import ResetReport


class ResetOnly:
    """`provisioning.protocols.Snapshots` with ``ready`` as the only snapshot.

    Saving files without the programs that use them would be an incomplete snapshot, so `save` always
    fails.

    Args:
        name: name of the machine, for errors.
        renew: resets the machine and verifies it.
        why: why nothing can be saved, one sentence.
    """

    def __init__(self, name: str, renew: Callable[[], ResetReport], *, why: str) -> None:
        self._name = name
        self._renew = renew
        self._why = why

    def save(self, name: str) -> None:
        """Raise an error: nothing can be saved.

        Raises:
            UnsupportedError: always.
        """
        raise UnsupportedError(
            f"{self._name} cannot be saved as {name!r}.",
            details=self._why,
            resolution="If you need snapshots, use a desktop VM (MESOCOSM_DESKTOP=vm).",
        )

    def rewind(self, name: str) -> ResetReport:
        """Reset the machine and verify it.

        Raises:
            SnapshotMissingError: `name` is not ``ready``.
            MachineStartError: the machine did not start in time.
            ResetMismatchError: the machine differs from its initial state; it must not be used.
        """
        if name != READY:
            raise self._missing(name)
        return self._renew()

    def list_snapshots(self) -> Sequence[str]:
        """Return the only snapshot name, ``ready``."""
        return [READY]

    def delete_snapshot(self, name: str) -> None:
        """Raise an error: ``ready`` cannot be deleted.

        Raises:
            SnapshotMissingError: `name` is not ``ready``.
            UnsupportedError: `name` is ``ready``, which cannot be deleted.
        """
        if name != READY:
            raise self._missing(name)
        raise UnsupportedError(f"{READY!r} of {self._name} cannot be deleted.", details=self._why)

    def _missing(self, name: str) -> SnapshotMissingError:
        return SnapshotMissingError(
            f"{self._name} has no snapshot {name!r}.", details=f"Its only snapshot is {READY!r}."
        )
