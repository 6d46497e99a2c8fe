"""The client for programs with an event loop; the same operations as those of `sync`."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Self, TypeVar

import httpx

from mesocosm.client import flows
from mesocosm.client.address import Address, find_address
from mesocosm.client.errors import ServiceError
from mesocosm.client.exchange import Flow, Pause, closed_error, options_of
from mesocosm.client.farewell import give_up
from mesocosm.client.flows import CommandLine, EpisodeState, opening_of
from mesocosm.client.heartbeat import Heart

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType

    from mesocosm.client.exchange import Answer
    from mesocosm.client.models import (
        Command,
        Episode,
        EpisodeRow,
        Observation,
        Outcome,
        Standing,
        Step,
        Suite,
        Usage,
    )

T = TypeVar("T")
_log = logging.getLogger(__name__)


def connect_async(url: str | None = None, token: str | None = None) -> AsyncClient:
    """Return an async client for a service; arguments and errors are those of `sync.connect`."""
    return AsyncClient(find_address(url, token))


class AsyncClient:
    """A client of one service. As a context manager, it closes its episodes.

    Args:
        address: the service.
    """

    def __init__(self, address: Address) -> None:
        self.address = address
        self._http = httpx.AsyncClient(**options_of(address))
        self._heart = Heart(address)
        self._open: set[str] = set()

    async def suites(self) -> list[str]:
        """Return the names of the suites."""
        return await self.drive(flows.suites())

    async def suite(self, name: str) -> Suite:
        """Return a suite with its tasks."""
        return await self.drive(flows.suite(name))

    async def episodes(self) -> list[EpisodeRow]:
        """Return all episodes that the service knows, latest first."""
        return (await self.drive(flows.episodes())).episodes

    async def open(
        self,
        task: str,
        seed: int = 0,
        **options: Any,  # noqa: ANN401 - see `Opening`
    ) -> AsyncEnv:
        """Lease the machines of a task and prepare it; see `sync.Client.open`."""
        opening = opening_of(task, seed, options)
        try:
            return AsyncEnv(self, await self.drive(flows.open_episode(opening)))
        except Exception:
            raise
        except BaseException:  # a cancelled task, above all
            give_up(self.address, keys=[opening.key])
            raise

    async def close(self) -> None:
        """Cancel the episodes that are still open, and close the connections."""
        try:
            while self._open:
                episode_id = next(iter(self._open))
                try:
                    await self.drive(flows.cancel_episode(episode_id))
                except ServiceError as exc:
                    _log.warning("%s was not ended: %s", episode_id, exc)
                self._open.discard(episode_id)
        finally:
            if self._open:  # interrupted
                give_up(self.address, episode_ids=sorted(self._open))
                self._open.clear()
            self._heart.stop()
            await self._http.aclose()

    async def drive(self, flow: Flow[T]) -> T:
        """Run a flow: send what it asks for, and return its result.

        Raises:
            ServiceError: a request failed, or the client is closed.
        """
        if self._http.is_closed:
            raise closed_error()
        answer: Answer = None
        while True:
            try:
                request = flow.send(answer)
            except StopIteration as stop:
                result: T = stop.value
                return result
            answer = None
            if isinstance(request, Pause):
                await asyncio.sleep(request.seconds)
                continue
            try:
                answer = await self._http.request(
                    request.method, request.url, json=request.body, timeout=request.timeout
                )
            except httpx.TransportError as exc:
                answer = exc

    def keep(self, env: AsyncEnv) -> None:
        """Send heartbeats for an episode until it is closed."""
        self._open.add(env.episode_id)
        self._heart.add(env)

    def drop(self, env: AsyncEnv) -> None:
        """Stop to send heartbeats for an episode."""
        self._open.discard(env.episode_id)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class AsyncEnv(EpisodeState):
    """An open episode. As a context manager, it is closed at the end, or cancelled on an exception.

    Args:
        client: its client.
        reply: the service's reply to the opening.
    """

    def __init__(self, client: AsyncClient, reply: Episode) -> None:
        super().__init__(reply)
        self._client = client
        if not self.is_over:
            client.keep(self)

    async def step(
        self,
        actions: Sequence[Mapping[str, Any]],
        usage: Usage | None = None,
        request_id: str | None = None,
    ) -> Step:
        """Carry out actions in order; see `sync.Env.step`."""
        return await self._client.drive(self.step_flow(actions, usage, request_id))

    async def observe(self) -> Observation:
        """Return the latest observation; see `sync.Env.observe`."""
        return await self._client.drive(self.observe_flow())

    async def evaluate(self) -> Standing:
        """Judge the episode as if it ended now; changes nothing and is not charged to the agent."""
        return await self._client.drive(self.evaluate_flow())

    async def run(self, on: str, argv: Sequence[str], **options: Any) -> Command:  # noqa: ANN401 - see `CommandLine`
        """Run a command on a machine; see `sync.Env.run`."""
        return await self._client.drive(self.run_flow(CommandLine(on, argv, **options)))

    async def close(self) -> Outcome | None:
        """End the episode, release its machines and return its outcome; may be called again."""
        outcome = await self._client.drive(self.end_flow("close"))
        self._client.drop(self)
        return outcome

    async def cancel(self) -> Outcome | None:
        """End the episode at once, even during a step, without a verdict."""
        outcome = await self._client.drive(self.end_flow("cancel"))
        self._client.drop(self)
        return outcome

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if error is None:
            await self.close()
            return
        try:
            await self.cancel()
        except ServiceError as exc:
            _log.warning("%s was not ended: %s", self.episode_id, exc)
