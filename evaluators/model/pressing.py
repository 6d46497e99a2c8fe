"""Keys that the appliance presses for the agent before it judges a trial."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from foundation.strict import Strict


class Press(Strict):
    """One entry of the key ``press_before_judging``.

    Attributes:
        on: role of a desktop.
        keys: names of keys that are pressed together, such as ``[ctrl, s]``.
        window: exact title of the window that is brought to the front first; if there is none,
            nothing is pressed. By default, the keys go to the window that is in front.
    """

    on: str
    keys: Annotated[tuple[str, ...], Field(strict=False, min_length=1, max_length=5)]
    window: str = ""
