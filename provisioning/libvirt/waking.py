"""What a guest needs after a snapshot was loaded: be found again, be made fresh, be verified."""

from __future__ import annotations

import base64
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from appliance.base.errors import MesocosmError, ResetMismatchError, SnapshotError
from provisioning.state_digest import read_digest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from appliance.base.clock import Clock
    from provisioning.links.client import LinkClient
    from provisioning.protocols import Json
    from provisioning.state_digest import StateDigest

_SEED_BYTES = 64
_TIMEOUT_S = 10.0
_MAX_NAMED = 20


class Phases:
    """Times the parts of a way back to a snapshot.

    Args:
        clock: measures.

    Attributes:
        seconds: by name of the part.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._start_s = clock.monotonic_s()
        self.seconds: dict[str, float] = {}

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Time a block."""
        start_s = self._clock.monotonic_s()
        yield
        self.seconds[name] = self._clock.monotonic_s() - start_s

    def total_s(self) -> float:
        """Give the seconds since this was made."""
        return self._clock.monotonic_s() - self._start_s


def wake(
    link: LinkClient,
    before: StateDigest,
    phases: Phases,
    *,
    name: str,
    clock: Clock,
    identity: Mapping[str, str] | None = None,
) -> None:
    """Find the probe of a guest that was just loaded, make the guest fresh, and verify it.

    The random pool is stirred, the clock set and a fork's identity taken in the same round trip
    that brings the digest back.

    Args:
        link: to the probe.
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
            params: dict[str, Json] = {
                "seed_b64": base64.b64encode(os.urandom(_SEED_BYTES)).decode(),
                "unix_s": clock.now_s(),
            }
            if identity is not None:
                params["identity"] = dict(identity)
            differences = before.differences(
                read_digest(link.call("wake", params, timeout_s=_TIMEOUT_S))
            )
    except MesocosmError as exc:
        raise SnapshotError(f"{name} does not answer after a reset.", str(exc)) from exc
    if differences:
        raise ResetMismatchError(
            f"{name} differs from its snapshot in {len(differences)} places.",
            details="\n".join(differences[:_MAX_NAMED]),
            resolution="The machine is thrown away; the next lease makes another.",
        )
