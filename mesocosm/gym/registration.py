"""Registration with Gymnasium, without an import of what environments need."""

from __future__ import annotations

import gymnasium

ID = "mesocosm/Task-v0"


def register_all() -> None:
    """Register the environments; may be called again."""
    if ID not in gymnasium.registry:
        gymnasium.register(
            ID,
            entry_point="mesocosm.gym.environment:TaskEnv",
            # Clocks and programs run on machines: pictures differ even with the same seed.
            nondeterministic=True,
        )
