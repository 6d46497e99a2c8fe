"""States of desktops as reported by a probe, for tests of comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from provisioning.reset.digests import SelectionState, StateDigest
from provisioning.reset.picture import Picture
from provisioning.reset.saved_state import SavedState
from provisioning.reset.windows import WindowState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from provisioning.protocols import Frame


def a_window(title: str = "Notes", **others: Any) -> WindowState:  # noqa: ANN401 - any field
    fields: dict[str, Any] = {
        "title": title,
        "wm_class": ["gedit", "Gedit"],
        "kind": "normal",
        "geometry": [100, 50, 400, 300],
        "states": [],
        "active": False,
    }
    return WindowState(**{**fields, **others})


def a_digest(
    *,
    files: dict[str, str] | None = None,
    processes: Sequence[str] = (),
    windows: Sequence[WindowState] = (),
    selections: dict[str, SelectionState] | None = None,
    unseen: str = "",
) -> StateDigest:
    return StateDigest(
        format=3,
        files=files or {},
        settings={},
        processes=list(processes),
        windows=list(windows),
        selections=selections or {},
        unseen=unseen,
    )


def a_selection(text: str = "f" * 64, trouble: str = "") -> SelectionState:
    return SelectionState(
        owned=True, targets=["TARGETS", "UTF8_STRING"], text=text, trouble=trouble
    )


def a_frame(height: int = 80, width: int = 100) -> Frame:
    """Return a picture in which all rows and columns are different."""
    ys, xs = np.mgrid[:height, :width]
    return np.dstack((ys % 251, xs % 241, (ys + xs) % 239)).astype(np.uint8)


def a_picture() -> Picture:
    frame = a_frame()
    return Picture(frame, np.ones(frame.shape[:2], dtype=np.bool_))


def a_state() -> SavedState:
    digest = a_digest(files={"a": "1"}, windows=[a_window()])
    return SavedState(digest, a_picture(), fingerprint="f" * 32)
