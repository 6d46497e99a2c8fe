"""The baseline: the state of a fresh desktop container, recorded once per image and probe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provisioning.reset.saved_state import SavedState, picture_path

if TYPE_CHECKING:
    from pathlib import Path


class Baseline:
    """The state that every fresh container of one image must be in.

    Args:
        folder: its folder, named by the digest of its dependencies.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / "state.json"

    def read(self) -> SavedState | None:
        """Return the state; None if there is none, or if its format is outdated."""
        try:
            return SavedState.read(self._path)
        except (OSError, ValueError):
            return None

    def write(self, state: SavedState) -> None:
        """Write the state."""
        state.write(self._path)

    def remove(self) -> None:
        """Remove the state; does nothing if there is none."""
        self._path.unlink(missing_ok=True)
        picture_path(self._path).unlink(missing_ok=True)
