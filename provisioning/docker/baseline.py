"""What a fresh desktop container looks like, known once per image and probe."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from appliance.base.files import write_atomic
from provisioning.state_digest import StateDigest

if TYPE_CHECKING:
    from pathlib import Path

    from provisioning.protocols import Frame

# The clock in the panel is 0.2 % of the screen, a panel that is not painted yet 3 %.
SCREEN_TOLERANCE_RATIO = 0.01


class Baseline:
    """The state digest and the picture that every fresh container of one image must show.

    Args:
        folder: named by what they depend on.
    """

    def __init__(self, folder: Path) -> None:
        self._digest = folder / "state.json"
        self._picture = folder / "screen.npy"

    def read(self) -> tuple[StateDigest, Frame] | None:
        """Give digest and picture; None while they are not known."""
        try:
            digest = StateDigest.model_validate_json(self._digest.read_bytes())
            with self._picture.open("rb") as file:
                return digest, np.load(file, allow_pickle=False)
        except (OSError, ValueError, EOFError):
            return None

    def write(self, digest: StateDigest, picture: Frame) -> None:
        """Keep both, the digest last: where it is, the picture is too."""
        self._picture.parent.mkdir(parents=True, exist_ok=True)
        part = self._picture.with_suffix(".part")
        with part.open("wb") as file:
            np.save(file, picture, allow_pickle=False)
        part.replace(self._picture)
        write_atomic(self._digest, digest.model_dump_json())


def differing_ratio(one: Frame, other: Frame) -> float:
    """Give the share of pixels, 0 to 1, in which two pictures differ; 1 when their sizes do."""
    if one.shape != other.shape:
        return 1.0
    return float(np.any(one != other, axis=2).mean())
