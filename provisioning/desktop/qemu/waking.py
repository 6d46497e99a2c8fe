"""Wakes a guest after a snapshot was loaded: reconnects to it, refreshes it and verifies it."""

from __future__ import annotations

import base64
import logging
import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from foundation.clock import wait_until
from foundation.errors import MesocosmError, ResetMismatchError, SnapshotError
from provisioning.reset.digests import read_digest
from provisioning.reset.saved_state import format_differences

if TYPE_CHECKING:
    from collections.abc import Mapping

    from foundation.clock import Clock
    from provisioning.links.client import LinkClient
    from provisioning.protocols import Json, Screen
    from provisioning.reset.phases import Phases
    from provisioning.reset.picture import Picture
    from provisioning.reset.saved_state import SavedState

_log = logging.getLogger(__name__)

_SEED_BYTES = 64
_TIMEOUT_S = 10.0
# A partly painted frame, or one in another phase of a blinking cursor, is captured again.
_SETTLE_S = 1.5
_EVERY_S = 0.1
# If the round trip takes longer, the guest's clock is set once more.
_LATE_S = 0.25


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
    """Reconnect to the probe of a guest that was just loaded, refresh the guest, and verify it.

    One round trip reseeds the random pool, sets the clock, applies a fork's identity, and returns
    the fingerprint of the state, or the digest if that is another; the host takes the screenshot.

    Args:
        link: link to the probe.
        screen: screen of the machine, captured on the host.
        before: the saved state.
        phases: records the phase ``verify``.
        name: name of the machine, for errors.
        clock: the time that the guest's clock is set to.
        identity: parameters of the probe's ``become``.

    Raises:
        SnapshotError: the guest does not answer; it must not be used.
        ResetMismatchError: the guest differs from the saved state; it must not be used.
    """

    def describe() -> dict[str, Json]:
        params: dict[str, Json] = {
            "seed_b64": base64.b64encode(os.urandom(_SEED_BYTES)).decode(),
            "unix_s": clock.now_s(),
            "fingerprint": before.fingerprint,
        }
        return params if identity is None else {**params, "identity": dict(identity)}

    try:
        # The host compares the screen while the guest wakes up, before its clock is set.
        with ThreadPoolExecutor(1, "screen") as pool:
            look = pool.submit(lambda: before.picture.differences(screen.capture()))
            with phases.part("verify"):
                began_s = clock.monotonic_s()
                reply = link.resync_with("wake", describe, timeout_s=_TIMEOUT_S)
                if clock.monotonic_s() - began_s > _LATE_S:
                    # The time that the request took to arrive is missing from the guest's clock.
                    link.call("set_clock", {"unix_s": clock.now_s()}, timeout_s=_TIMEOUT_S)
                differences = _compare(before, reply, name)
                differences += look.result() and _look_again(before.picture, screen, clock)
    except MesocosmError as exc:
        raise SnapshotError(f"{name} does not answer after a reset.", str(exc)) from exc
    if differences:
        raise ResetMismatchError(
            f"{name} differs from its snapshot in {len(differences)} places.",
            details=format_differences(differences),
            resolution="No action needed: the machine is discarded, and the next lease uses another.",
        )


def _compare(before: SavedState, reply: Json, name: str) -> tuple[str, ...]:
    """Return how a guest's state differs, from its reply to ``wake``.

    Raises:
        LinkProtocolError: the reply is invalid.
    """
    answer = reply if isinstance(reply, dict) else {}
    fingerprint = answer.get("fingerprint")
    if fingerprint and fingerprint == before.fingerprint:
        return ()
    _log.debug("%s has the fingerprint %r, not %r", name, fingerprint, before.fingerprint)
    return before.digest.differences(read_digest(answer.get("digest")))


def _look_again(picture: Picture, screen: Screen, clock: Clock) -> tuple[str, ...]:
    """Return how the screen differs from a picture, once it does not or a moment has passed."""
    differences: tuple[str, ...] = ()

    def matches() -> bool:
        nonlocal differences
        differences = picture.differences(screen.capture())
        return not differences

    wait_until(matches, timeout_s=_SETTLE_S, every_s=_EVERY_S, clock=clock)
    return differences
