"""What a fresh desktop container looks like, known once per image and probe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provisioning.reset.saved_state import SavedState, picture_path

if TYPE_CHECKING:
    from pathlib import Path


class Baseline:
    """The state that every fresh container of one image must be in.

    Args:
        folder: named by what it depends on.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / "state.json"

    def read(self) -> SavedState | None:
        """Return the state; None while it is not known, or was kept in another form."""
        try:
            return SavedState.read(self._path)
        except (OSError, ValueError):
            return None

    def write(self, state: SavedState) -> None:
        """Keep it."""
        state.write(self._path)

    def remove(self) -> None:
        """Forget it; harmless when it is not known."""
        self._path.unlink(missing_ok=True)
        picture_path(self._path).unlink(missing_ok=True)
