"""Measure worlds: made for a seed, reset, searched."""

from __future__ import annotations

import http.client
from typing import TYPE_CHECKING

from appliance.bench.rows import Row, phase_means
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import LinkClosedError, MachineError
from provisioning.protocols import READY
from provisioning.world.persona.words.sites import SHOP

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from foundation.clock import Clock
    from provisioning.protocols import ResetReport
    from provisioning.world.backend import WorldBackend
    from provisioning.world.resource import World

    Tick = Callable[[str], None]

_HTTP_PORT = 80
_OK = 200
_TIMEOUT_S = 30.0
_MADE_SHARE = 5
_MIB = 2**20


def bench_world(
    backend: WorldBackend, count: int, tick: Tick, *, clock: Clock = SYSTEM_CLOCK
) -> Generator[Row]:
    """Make worlds, which are deleted afterwards; reset and search the last one.

    Args:
        backend: of worlds with some seed.
        count: samples per row; a fifth as many worlds are made.
        tick: called with the row's name after each sample.
        clock: for measuring.

    Raises:
        MesocosmError: a world cannot be made.
    """
    made = Row("world, made", "container, servers, a persona's state, verified and saved")
    yield made
    for _ in range(max(1, count // _MADE_SHARE) - 1):
        made.measure(lambda: backend.make(_ignore).delete(), clock)
        tick(made.name)
    start_s = clock.monotonic_s()
    handle = backend.make(_ignore)
    try:
        made.samples_s.append(clock.monotonic_s() - start_s)
        tick(made.name)
        world = handle.machine
        made.extra["memory_mib"] = world.memory_bytes() / _MIB
        yield from _resets(world, count, tick, clock)
        yield from _searches(world, count, tick, clock)
    finally:
        handle.delete()


def _resets(world: World, count: int, tick: Tick, clock: Clock) -> Generator[Row]:
    row = Row("world, reset", "state replaced and verified, all servers restarted")
    yield row
    reports: list[ResetReport] = []
    for _ in range(count):
        row.measure(lambda: reports.append(world.snapshots.rewind(READY)), clock)
        tick(row.name)
    row.extra |= phase_means(reports)
    standby = Row("world, standing by", "a frozen world continues and is compared")
    yield standby
    for _ in range(count):
        world.pause()
        standby.measure(lambda: _wake(world), clock)
        tick(standby.name)


def _wake(world: World) -> None:
    """Let a world continue.

    Raises:
        MachineError: it was not standing by.
    """
    if (path := world.reset_to(READY).path) != "standby":
        raise MachineError(f"The world was reset by {path}.")


def _searches(world: World, count: int, tick: Tick, clock: Clock) -> Generator[Row]:
    row = Row("world, search", "a search in the shop, over HTTP")
    yield row
    word = world.persona.products[0].brand
    for _ in range(count):
        row.measure(lambda: _search(world, word), clock)
        tick(row.name)


def _search(world: World, word: str) -> None:
    """Search the shop.

    Raises:
        LinkClosedError: the world does not answer.
        MachineError: it does not find anything.
    """
    connection = http.client.HTTPConnection(*world.endpoints[_HTTP_PORT], timeout=_TIMEOUT_S)
    try:
        connection.request("GET", f"/search?q={word}", headers={"Host": SHOP})
        reply = connection.getresponse()
        if reply.status != _OK or word.encode() not in reply.read():
            raise MachineError(f"The shop answered {reply.status} to a search for {word}.")
    except (OSError, http.client.HTTPException) as exc:
        raise LinkClosedError("The shop does not answer.", str(exc)) from exc
    finally:
        connection.close()


def _ignore(_message: str) -> None:
    pass
