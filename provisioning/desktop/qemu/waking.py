"""What a guest needs after a snapshot was loaded: be found again, be made fresh, be verified."""

from __future__ import annotations

import base64
import os
from typing import TYPE_CHECKING

from appliance.base.clock import wait_until
from appliance.base.errors import MesocosmError, ResetMismatchError, SnapshotError
from provisioning.reset.digests import read_digest
from provisioning.reset.saved_state import tell

if TYPE_CHECKING:
    from collections.abc import Mapping

    from appliance.base.clock import Clock
    from provisioning.links.client import LinkClient
    from provisioning.protocols import Frame, Json, Screen
    from provisioning.reset.phases import Phases
    from provisioning.reset.picture import Picture
    from provisioning.reset.saved_state import SavedState

_SEED_BYTES = 64
_TIMEOUT_S = 10.0
# A frame that is half painted, or shows a text cursor at another moment, is looked at again.
_SETTLE_S = 1.5
_EVERY_S = 0.1


def wake(
    link: LinkClient,
    screen: Screen,
    before: SavedState,
    phases: Phases,
    *,
    name: str,
    clock: Clock,
    identity: Mapping[str, str] | None = None,
) -> None:
    """Find the probe of a guest that was just loaded, make the guest fresh, and verify it.

    The random pool is stirred, the clock set and a fork's identity taken in the same round trip
    that brings the digest back; the host takes its picture.

    Args:
        link: to the probe.
        screen: of the machine, seen from the host.
        before: the state that was saved.
        phases: gets ``resync`` and ``verify``.
        name: of the machine, for errors.
        clock: the time that the guest gets.
        identity: what the probe's ``become`` takes.

    Raises:
        SnapshotError: it does not answer; it must not be used.
        ResetMismatchError: it differs from what was saved; it must not be used.
    """
    try:
        with phases.part("resync"):
            link.resync(timeout_s=_TIMEOUT_S)
        with phases.part("verify"):
            # Before the guest has work: at the same time, the two would wait for each other.
            frame = screen.capture()
            params: dict[str, Json] = {
                "seed_b64": base64.b64encode(os.urandom(_SEED_BYTES)).decode(),
                "unix_s": clock.now_s(),
            }
            if identity is not None:
                params["identity"] = dict(identity)
            state = read_digest(link.call("wake", params, timeout_s=_TIMEOUT_S))
            differences = before.digest.differences(state)
            differences += _look(before.picture, frame, screen, clock)
    except MesocosmError as exc:
        raise SnapshotError(f"{name} does not answer after a reset.", str(exc)) from exc
    if differences:
        raise ResetMismatchError(
            f"{name} differs from its snapshot in {len(differences)} places.",
            details=tell(differences),
            resolution="The machine is thrown away; the next lease makes another.",
        )


def _look(picture: Picture, frame: Frame, screen: Screen, clock: Clock) -> tuple[str, ...]:
    """Return what of a picture differs still, after a moment if it does at once."""
    differences = picture.differences(frame)

    def is_as_told() -> bool:
        nonlocal differences
        differences = picture.differences(screen.capture())
        return not differences

    if differences:
        wait_until(is_as_told, timeout_s=_SETTLE_S, every_s=_EVERY_S, clock=clock)
    return differences
