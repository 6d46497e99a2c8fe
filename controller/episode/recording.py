"""Record the screens of a trial's machines beside its log."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from provisioning.recording.recorder import Recorder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from appliance.base.clock import Clock
    from controller.episode.context import EventSink
    from provisioning.protocols import Machine


@contextlib.contextmanager
def recording(
    machines: Mapping[str, Machine], log: EventSink, rate_hz: float, clock: Clock
) -> Iterator[None]:
    """Record every machine for the length of a block, as ``screen-<role>.mp4``.

    Args:
        machines: by role.
        log: takes the names of the videos; one without a folder has none.
        rate_hz: frames a second; 0 records nothing.
        clock: stamps the frames.

    Raises:
        RequirementError: PyAV is not installed.
        StoreError: the log cannot be written.
    """
    if not rate_hz or log.folder is None:
        yield
        return
    with contextlib.ExitStack() as stack:
        videos = {}
        for role, machine in machines.items():
            path = log.folder / f"screen-{role}.mp4"
            stack.enter_context(Recorder(machine.screen, path, rate_hz=rate_hz, clock=clock))
            videos[role] = path.name
        log.append("recording", videos=videos, rate_hz=rate_hz)
        yield
