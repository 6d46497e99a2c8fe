"""The client for programs without an event loop."""

from __future__ import annotations

import logging
import threading
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


def connect(url: str | None = None, token: str | None = None) -> Client:
    """Return a client for a service.

    Args:
        url: such as ``https://bench.example.org:9465``; by default the variable
            ``MESOCOSM_SERVER``, or the service of this host.
        token: by default the variable ``MESOCOSM_TOKEN``, or the token in this host's state folder.

    Raises:
        AddressError: the URL is invalid.
        TokenError: there is no token.
    """
    return Client(find_address(url, token))


class Client:
    """A client of one service; thread-safe. As a context manager, it closes its episodes.

    Args:
        address: the service.
    """

    def __init__(self, address: Address) -> None:
        self.address = address
        self._http = httpx.Client(**options_of(address))
        self._heart = Heart(address)
        self._open: set[str] = set()

    def suites(self) -> list[str]:
        """Return the names of the suites."""
        return self.drive(flows.suites())

    def suite(self, name: str) -> Suite:
        """Return a suite with its tasks."""
        return self.drive(flows.suite(name))

    def episodes(self) -> list[EpisodeRow]:
        """Return all episodes that the service knows, latest first."""
        return self.drive(flows.episodes()).episodes

    def open(self, task: str, seed: int = 0, **options: Any) -> Env:  # noqa: ANN401 - see `Opening`
        """Lease the machines of a task, prepare it and return the episode.

        Args:
            task: suite and task, such as ``smoke/desktop-editor``.
            seed: seed of the task's parameters.
            **options: further fields of `mesocosm.client.flows.Opening`: ``trees``, ``feedback``,
                ``observation``, ``fleet``, ``ttl_s``, ``wait_s``, ``key``.

        Raises:
            CapacityError: no machine was free within ``wait_s``.
            InfrastructureError: the machines or their host failed.
            TaskFaultError: the task is faulty.
            RequestError: there is no such suite, task or option.
        """
        opening = opening_of(task, seed, options)
        try:
            return Env(self, self.drive(flows.open_episode(opening)))
        except Exception:
            raise
        except BaseException:  # Ctrl-C, above all
            give_up(self.address, keys=[opening.key])
            raise

    def close(self) -> None:
        """Cancel the episodes that are still open, and close the connections."""
        try:
            while self._open:
                episode_id = next(iter(self._open))
                try:
                    self.drive(flows.cancel_episode(episode_id))
                except ServiceError as exc:
                    _log.warning("%s was not ended: %s", episode_id, exc)
                self._open.discard(episode_id)
        finally:
            if self._open:  # interrupted
                give_up(self.address, episode_ids=sorted(self._open))
                self._open.clear()
            self._heart.stop()
            self._http.close()

    def drive(self, flow: Flow[T]) -> T:
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
                threading.Event().wait(request.seconds)
                continue
            try:
                answer = self._http.request(
                    request.method, request.url, json=request.body, timeout=request.timeout
                )
            except httpx.TransportError as exc:
                answer = exc

    def keep(self, env: Env) -> None:
        """Send heartbeats for an episode until it is closed."""
        self._open.add(env.episode_id)
        self._heart.add(env)

    def drop(self, env: Env) -> None:
        """Stop to send heartbeats for an episode."""
        self._open.discard(env.episode_id)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Env(EpisodeState):
    """An open episode. As a context manager, it is closed at the end, or cancelled on an exception.

    Args:
        client: its client.
        reply: the service's reply to the opening.
    """

    def __init__(self, client: Client, reply: Episode) -> None:
        super().__init__(reply)
        self._client = client
        if not self.is_over:
            client.keep(self)

    def step(
        self,
        actions: Sequence[Mapping[str, Any]],
        usage: Usage | None = None,
        request_id: str | None = None,
    ) -> Step:
        """Carry out actions in order, and return what can be seen afterwards.

        Args:
            actions: see `act`; if one is refused, the rest is dropped and the observation says why.
            usage: usage of the agent's model, for the task's token and money limits.
            request_id: id of the request; the same id again returns the same reply.

        Raises:
            EpisodeOverError: the episode has ended.
            RequestError: the actions have the wrong form.
        """
        return self._client.drive(self.step_flow(actions, usage, request_id))

    def observe(self) -> Observation:
        """Return the latest observation; takes no new picture, which only a step does.

        Raises:
            EpisodeOverError: the episode was closed.
        """
        return self._client.drive(self.observe_flow())

    def evaluate(self) -> Standing:
        """Judge the episode as if it ended now; changes nothing and is not charged to the agent."""
        return self._client.drive(self.evaluate_flow())

    def run(self, on: str, argv: Sequence[str], **options: Any) -> Command:  # noqa: ANN401 - see `CommandLine`
        """Run a command on a machine, outside the action space, of an episode opened with `commands`.

        Args:
            on: role of the machine.
            argv: program and arguments, without a shell.
            **options: further fields of `mesocosm.client.flows.CommandLine`: ``user``, ``input``,
                ``cwd``, ``env``, ``timeout_s``.

        Raises:
            StateConflictError: the episode was not opened for this command.
            EpisodeOverError: the episode has ended.
        """
        return self._client.drive(self.run_flow(CommandLine(on, argv, **options)))

    def close(self) -> Outcome | None:
        """End the episode, release its machines and return its outcome; may be called again."""
        outcome = self._client.drive(self.end_flow("close"))
        self._client.drop(self)
        return outcome

    def cancel(self) -> Outcome | None:
        """End the episode at once, even during a step, without a verdict."""
        outcome = self._client.drive(self.end_flow("cancel"))
        self._client.drop(self)
        return outcome

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
            return
        try:
            self.cancel()
        except ServiceError as exc:
            _log.warning("%s was not ended: %s", self.episode_id, exc)
