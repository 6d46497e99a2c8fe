"""Record the screens of a trial's machines next to its log."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from provisioning.recording.recorder import Recorder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from controller.episode.context import EventSink
    from foundation.clock import Clock
    from provisioning.protocols import Machine


@contextlib.contextmanager
def recording(
    machines: Mapping[str, Machine], log: EventSink, recording_hz: float, clock: Clock
) -> Iterator[None]:
    """Record every machine for the duration of a block, as ``screen-<role>.mp4``.

    Args:
        machines: machines by role.
        log: receives the names of the videos; without a folder there are none.
        recording_hz: frames per second; 0 records nothing.
        clock: provides the frames' timestamps.

    Raises:
        RequirementError: PyAV is not installed.
        StoreError: the log cannot be written.
    """
    if not recording_hz or log.folder is None:
        yield
        return
    with contextlib.ExitStack() as stack:
        videos = {}
        for role, machine in machines.items():
            path = log.folder / f"screen-{role}.mp4"
            stack.enter_context(Recorder(machine.screen, path, rate_hz=recording_hz, clock=clock))
            videos[role] = path.name
        log.append("recording", videos=videos, rate_hz=recording_hz)
        yield
