"""The operations of the API as flows, and the state of an open episode; shared by both clients."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal

from mesocosm.client.errors import EpisodeOverError, RequestError, UnknownError
from mesocosm.client.exchange import DEADLINE_S, Request, ask
from mesocosm.client.models import (
    ActionInfo,
    Command,
    Episode,
    Episodes,
    Observation,
    Outcome,
    Standing,
    Step,
    Suite,
    Suites,
    Usage,
)

if TYPE_CHECKING:
    from mesocosm.client.exchange import Flow

Feedback = Literal["none", "hints", "nodes"]

TTL_S = 60.0
"""How long a service keeps an episode whose client died: heartbeats come four times as often."""
WAIT_S = 3600.0
"""How long operations are waited for, machines included."""


@dataclass(frozen=True, slots=True)
class Opening:
    """What to open.

    Attributes:
        task: suite and task, such as ``smoke/desktop-editor``.
        seed: seed of the task's parameters.
        trees: whether observations include accessibility trees.
        feedback: feedback on progress in observations.
        observation: further parts of observations; see `ObservationSpec`.
        fleet: ``fake`` leases machines in memory.
        commands: whether `Env.run` works: ``agent`` as the agent's user, ``root`` as any user.
        ttl_s: seconds until the service ends the episode of a client that died.
        wait_s: how long to wait for a free machine.
        key: idempotency key.
    """

    task: str
    seed: int = 0
    trees: bool = False
    feedback: Feedback = "none"
    observation: Mapping[str, Any] | None = None
    fleet: Literal["real", "fake"] = "real"
    commands: Literal["none", "agent", "root"] = "none"
    ttl_s: float = TTL_S
    wait_s: float = WAIT_S
    key: str = field(default_factory=lambda: uuid.uuid4().hex)

    @property
    def body(self) -> dict[str, Any]:
        """The request's content.

        Raises:
            RequestError: `task` does not name a suite and a task.
        """
        suite, _, task = self.task.rpartition("/")
        if not suite or not task:
            raise RequestError(
                f"{self.task!r} names no task.",
                resolution="Use SUITE/TASK, such as smoke/desktop-editor; `suites()` lists suites.",
            )
        return {
            "suite": suite,
            "task": task,
            "seed": self.seed,
            "trees": self.trees,
            "feedback": self.feedback,
            "fleet": self.fleet,
            "ttl_s": self.ttl_s,
            "key": self.key,
            "deadline_s": DEADLINE_S,
            "pictures": "base64",
            # Left out unless used, so that older services understand the request.
            **({} if self.observation is None else {"observation": self.observation}),
            **({} if self.commands == "none" else {"commands": self.commands}),
        }


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A command on a machine.

    Attributes:
        on: role of the machine.
        argv: program and arguments, without a shell.
        user: user to run it as; None for the agent's.
        input: its standard input; requests are limited to 1 MiB.
        cwd: its working directory; None for the user's home folder.
        env: variables to add to its environment.
        timeout_s: after this time, the program is killed.
    """

    on: str
    argv: Sequence[str]
    user: str | None = None
    input: bytes = b""
    cwd: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = 60.0

    @property
    def body(self) -> dict[str, Any]:
        """The request's content."""
        return {
            "on": self.on,
            "argv": list(self.argv),
            "user": self.user,
            "input": base64.b64encode(self.input).decode(),
            "cwd": self.cwd,
            "env": dict(self.env),
            "timeout_s": self.timeout_s,
        }


def suites() -> Flow[list[str]]:
    """Return the names of the service's suites."""
    return (yield from ask(Request("GET", "/suites"), Suites)).suites


def suite(name: str) -> Flow[Suite]:
    """Return a suite with its tasks."""
    return (yield from ask(Request("GET", f"/suites/{name}"), Suite))


def episodes() -> Flow[Episodes]:
    """Return all episodes that the service knows."""
    return (yield from ask(Request("GET", "/episodes"), Episodes))


def open_episode(opening: Opening) -> Flow[Episode]:
    """Open an episode, waiting for machines."""
    request = Request("POST", "/episodes", opening.body, opening.wait_s)
    return (yield from ask(request, Episode))


def cancel_episode(episode_id: str) -> Flow[Episode]:
    """End an episode at once."""
    body = {"deadline_s": DEADLINE_S}
    return (
        yield from ask(Request("POST", f"/episodes/{episode_id}/cancel", body, WAIT_S), Episode)
    )


def check_actions(actions: object) -> None:
    """Check that these are a list of actions.

    Raises:
        RequestError: they are not.
    """
    if isinstance(actions, Mapping | str) or not isinstance(actions, Sequence):
        raise RequestError(
            "`step` takes a list of actions.", resolution="Call step([act(…)]) instead."
        )
    for action in actions:
        if not isinstance(action, Mapping):
            raise RequestError(
                f"{action!r} is not an action.",
                resolution="Use act(NAME, ROLE, **arguments), such as act('click', 'desktop', x=1, y=2).",
            )


def opening_of(task: str, seed: int, options: Mapping[str, Any]) -> Opening:
    """Return an opening with these options.

    Raises:
        RequestError: there is no such option.
    """
    known = [item.name for item in fields(Opening) if item.name not in {"task", "seed"}]
    if unknown := sorted(set(options) - set(known)):
        raise RequestError(
            f"`open` has no option {', '.join(unknown)}.",
            resolution=f"Its options are {', '.join(known)}.",
        )
    return Opening(task, seed, **options)


class EpisodeState:
    """What a client knows of an open episode; base of `Env` and `AsyncEnv`.

    Attributes:
        episode_id: its id in the service.
        suite: name of the suite.
        task: id of the task.
        seed: seed of the task's parameters.
        ttl_s: seconds until the service ends the episode without heartbeats.
        instruction: what the agent shall do.
        actions: the action space.
        observation: the latest observation; None if it could not be given.
        outcome: how it ended; None before.
    """

    def __init__(self, reply: Episode) -> None:
        self.episode_id = reply.id
        self.suite = reply.suite
        self.task = reply.task
        self.seed = reply.seed
        self.ttl_s = reply.ttl_s
        self.instruction = reply.instruction
        self.actions: list[ActionInfo] = reply.actions
        self.observation: Observation | None = reply.observation
        self.outcome: Outcome | None = reply.outcome
        self.is_over = reply.phase == "over"
        self.is_closed = False

    def __repr__(self) -> str:
        state = "over" if self.is_over else "open"
        return f"<{type(self).__name__} {self.suite}/{self.task} {self.episode_id} {state}>"

    def step_flow(
        self, actions: Sequence[Mapping[str, Any]], usage: Usage | None, request_id: str | None
    ) -> Flow[Step]:
        """Carry out actions; see `Env.step`."""
        check_actions(actions)
        body = {
            "request_id": request_id or uuid.uuid4().hex,
            "actions": [dict(action) for action in actions],
            "usage": (usage or Usage()).model_dump(),
            "deadline_s": DEADLINE_S,
            "pictures": "base64",
        }
        try:
            step = yield from ask(self._post("step", body), Step)
        except EpisodeOverError as exc:
            raise self._over(exc) from None
        self.observation, self.outcome, self.is_over = step.observation, step.outcome, step.done
        return step

    def observe_flow(self) -> Flow[Observation]:
        """Return the latest observation; see `Env.observe`."""
        request = Request("GET", f"/episodes/{self.episode_id}?pictures=base64")
        reply = yield from ask(request, Episode)
        self._update(reply)
        if reply.observation is None:
            raise EpisodeOverError(f"{self.episode_id} is over: {reply.end}.")
        self.observation = reply.observation
        return reply.observation

    def evaluate_flow(self) -> Flow[Standing]:
        """Judge the episode as if it ended now; see `Env.evaluate`."""
        return (yield from ask(self._post("evaluate", {"deadline_s": DEADLINE_S}), Standing))

    def run_flow(self, command: CommandLine) -> Flow[Command]:
        """Run a command on a machine; see `Env.run`."""
        request = Request(
            "POST",
            f"/episodes/{self.episode_id}/run",
            command.body,
            timeout_s=command.timeout_s,
            is_repeatable=False,
        )
        return (yield from ask(request, Command))

    def end_flow(self, how: Literal["close", "cancel"]) -> Flow[Outcome | None]:
        """End the episode; see `Env.close`."""
        if not self.is_closed:
            try:
                reply = yield from ask(self._post(how, {"deadline_s": DEADLINE_S}), Episode)
            except UnknownError:  # it ended so long ago that the service forgot it
                self.is_over = True
            else:
                self._update(reply)
            self.is_closed = True
        return self.outcome

    def _over(self, error: EpisodeOverError) -> EpisodeOverError:
        """Return the error with the outcome, if it is known."""
        if self.outcome is None:
            return error
        outcome = self.outcome
        ended = f"It ended with {outcome.verdict}, {outcome.reason}: {outcome.detail}".rstrip(": ")
        return EpisodeOverError(
            error.brief, ended, error.resolution, code=error.code, status=error.status
        )

    def _update(self, reply: Episode) -> None:
        self.is_over = reply.phase == "over"
        self.outcome = reply.outcome or self.outcome

    def _post(self, name: str, body: Mapping[str, Any]) -> Request:
        return Request("POST", f"/episodes/{self.episode_id}/{name}", body, WAIT_S)
