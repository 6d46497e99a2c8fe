"""Run waves of evaluators, in a guest over its link or on the host with data from a machine."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from evaluators.attribution import cause_of
from evaluators.catalogue import HOST_PLACES
from evaluators.graph.outcome import Cause, Outcome, undecided
from evaluators.isolation.pool import shared_processes
from evaluators.machine_view import MachineView
from evaluators.model.suite_files import located
from evaluators.phone.view import PhoneView
from evaluators.rendering.errors import DocumentUnviewableError
from evaluators.session.view import CrossView
from evaluators.world.view import WorldView
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import (
    CostlyAnswerError,
    GuestCallError,
    LinkError,
    MachineError,
    MesocosmError,
    ObstructedEvaluationError,
)
from provisioning.registry import registry

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from evaluators.bundle import Bundle
    from evaluators.catalogue import Vocabulary
    from evaluators.graph.outcome import Call, WaveRunner
    from evaluators.rendering.keeping import OnRoleView, OnView
    from evaluators.schema import Tool
    from evaluators.session.answers import SessionView
    from evaluators.world.view import WorldSource
    from foundation.clock import Clock
    from provisioning.protocols import Commands, Json, Link, Machine, Reachable

_LOG = logging.getLogger(__name__)
S = TypeVar("S")
CallEvaluator: TypeAlias = "Callable[[Tool, S, Mapping[str, Json], float], object]"
"""Function that runs an evaluator with a subject and arguments, within a time limit in s, and returns its result."""

_LOAD_TIMEOUT_S = 30.0
_GRACE_S = 5.0


class _Reply(BaseModel):
    """The probe's reply to one call."""

    model_config = ConfigDict(strict=True, extra="forbid")

    node: str
    met: bool | None
    reason: str = ""
    code: str = ""


_REPLIES = TypeAdapter(list[_Reply])


class BundleRunner:
    """Runner of desktop evaluators in the guest's probe, with one request per wave.

    The evaluators' sources are sent if the probe does not have them: the first time, and after
    every rewind to an earlier state.

    Args:
        link: link to the probe.
        bundle: modules that the probe loads.
    """

    def __init__(self, link: Link, bundle: Bundle) -> None:
        self._link = link
        self._bundle = bundle
        self._is_loaded = False

    def evaluate(self, calls: Sequence[Call], *, timeout_s: float) -> Sequence[Outcome]:
        """Run `calls`; if the link fails, all of them are inconclusive."""
        try:
            reply = self._ask(calls, timeout_s)
            rows = _REPLIES.validate_python(reply)
        except LinkError as exc:
            return undecided(calls, _message_of(exc), _cause_of(exc))
        except ValidationError as exc:
            return undecided(
                calls, f"the probe did not return a list of outcomes: {exc.errors()[0]['msg']}"
            )
        return [
            Outcome(row.node, row.met, row.reason, cause_of(row.code) if row.met is None else None)
            for row in rows
        ]

    def _ask(self, calls: Sequence[Call], timeout_s: float) -> Json:
        wave: dict[str, Json] = {
            "bundle": self._bundle.digest,
            "calls": [{"node": c.node, "name": c.check, "args": dict(c.args)} for c in calls],
            "timeout_s": timeout_s,
        }
        was_loaded = self._is_loaded
        if not was_loaded:
            self._load()
        try:
            return self._link.call("evaluate", wave, timeout_s=timeout_s + _GRACE_S)
        except GuestCallError:
            if not was_loaded:
                raise
            self._load()
            return self._link.call("evaluate", wave, timeout_s=timeout_s + _GRACE_S)

    def _load(self) -> None:
        params: dict[str, Json] = {
            "digest": self._bundle.digest,
            "modules": dict(self._bundle.modules),
        }
        self._link.call("bundle", params, timeout_s=_LOAD_TIMEOUT_S)
        self._is_loaded = True


class HostRunner(Generic[S]):
    """Runner of evaluators on the host, with one subject per wave.

    Args:
        tools: evaluators by name.
        subject: factory of their first argument; its parameter is the time limit of the wave in s.
        clock: clock for the time limit of a wave.
        call: function that runs an evaluator; by default in this process.
        folder: folder of the suite, whose files evaluators compare with.
    """

    def __init__(
        self,
        tools: Mapping[str, Tool],
        subject: Callable[[float], S],
        *,
        clock: Clock = SYSTEM_CLOCK,
        call: CallEvaluator[S] | None = None,
        folder: Path | None = None,
    ) -> None:
        self._call = call or _call_here
        self._folder = folder
        self._tools = tools
        self._subject = subject
        self._clock = clock

    def evaluate(self, calls: Sequence[Call], *, timeout_s: float) -> Sequence[Outcome]:
        """Run `calls` one after the other; a call that raises is inconclusive and does not stop the others.

        A call that takes too long because of the answer is unmet, because the agent chose the
        answer; so is one on a document that its program does not open. Calls that cannot start within the wave's time limit are inconclusive.
        """
        deadline_s = self._clock.monotonic_s() + timeout_s
        subject = self._subject(timeout_s)
        return [self._run(call, subject, deadline_s, timeout_s) for call in calls]

    def _run(self, call: Call, subject: S, deadline_s: float, timeout_s: float) -> Outcome:
        left_s = deadline_s - self._clock.monotonic_s()
        if left_s < 0:
            reason = f"the time limit of the wave, {timeout_s:g} s, expired before {call.check}"
            return Outcome(call.node, None, reason)
        tool = self._tools.get(call.check)
        if tool is None:
            return Outcome(call.node, None, f"there is no evaluator called {call.check!r}")
        try:
            args = located(tool, call.args, self._folder)
            met = self._call(tool, subject, args, left_s)
        except (CostlyAnswerError, DocumentUnviewableError) as exc:
            _LOG.warning("%s is unmet: %s", call.node, exc)
            return Outcome(call.node, met=False, reason=_message_of(exc))
        except MesocosmError as exc:
            is_refused = isinstance(exc, GuestCallError | ObstructedEvaluationError)
            cause = Cause.OBSTRUCTION if is_refused else _cause_of(exc)
            return Outcome(call.node, None, _message_of(exc), cause)
        except Exception as exc:  # noqa: BLE001  (an evaluator's fault must not end the trial)
            return Outcome(call.node, None, f"{call.check} raised {type(exc).__name__}: {exc}")
        if not isinstance(met, bool):
            return Outcome(call.node, None, f"{call.check} returned {met!r}, which is not a bool")
        return Outcome(call.node, met)


class SplitRunner:
    """Runner that runs each evaluator in the guest or on the host.

    A wave needs at most one round trip to each of the two.

    Args:
        inside: runner of all evaluators that are not in `names`.
        outside: runner of evaluators on the host.
        names: names of the evaluators that `outside` runs.
        clock: clock for the time limit of a wave.
    """

    def __init__(
        self,
        inside: WaveRunner,
        outside: WaveRunner,
        names: Collection[str],
        *,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._inside = inside
        self._outside = outside
        self._names = names
        self._clock = clock

    def evaluate(self, calls: Sequence[Call], *, timeout_s: float) -> Sequence[Outcome]:
        """Run `calls`, in the guest first; all of them share the time limit."""
        deadline_s = self._clock.monotonic_s() + timeout_s
        outcomes: list[Outcome] = []
        for runner, is_outside in ((self._inside, False), (self._outside, True)):
            share = [call for call in calls if (call.check in self._names) is is_outside]
            left_s = deadline_s - self._clock.monotonic_s()
            if share and left_s <= 0:
                outcomes += undecided(share, f"the time limit of {timeout_s:g} s expired")
            elif share:
                outcomes += runner.evaluate(share, timeout_s=left_s)
        return outcomes


def machine_runner(
    machine: Machine,
    vocabulary: Vocabulary,
    *,
    on_view: OnView | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> SplitRunner:
    """Create the runner of all evaluators that a check can name for a machine.

    Args:
        machine: a desktop or a phone.
        vocabulary: vocabulary with the evaluators.
        on_view: receives the views of documents that evaluators ask for.
        clock: clock for the time limit of a wave.
    """
    known = vocabulary.evaluators.get(machine.info.kind, {})
    inside: WaveRunner = (
        BundleRunner(machine.link, vocabulary.bundle)
        if registry().kind(machine.info.kind).runs_probe
        else phone_runner(machine, known, folder=vocabulary.folder, clock=clock)
    )
    tools = {name: tool for name, tool in known.items() if tool.on in HOST_PLACES}

    def view(timeout_s: float) -> MachineView:
        return MachineView(machine, timeout_s=timeout_s, on_view=on_view, clock=clock)

    outside = HostRunner(tools, view, folder=vocabulary.folder)
    return SplitRunner(inside, outside, tools, clock=clock)


def phone_runner(
    commands: Commands,
    tools: Mapping[str, Tool],
    *,
    folder: Path | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> HostRunner[PhoneView]:
    """Create the runner of a phone's own evaluators.

    Args:
        commands: shell commands of the phone, such as the phone machine itself.
        tools: evaluators by name.
        folder: folder of the suite.
        clock: clock for the time limit of a wave.
    """

    def view(timeout_s: float) -> PhoneView:
        return PhoneView(commands, timeout_s=timeout_s, clock=clock)

    return HostRunner(tools, view, folder=folder, clock=clock)


def world_runner(
    source: WorldSource,
    tools: Mapping[str, Tool],
    *,
    folder: Path | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> HostRunner[WorldView]:
    """Create the runner of a world's evaluators, which ask its servers in each wave.

    Args:
        source: reads the world's servers.
        tools: evaluators by name.
        folder: folder of the suite.
        clock: clock for the time limit of a wave.
    """

    def view(timeout_s: float) -> WorldView:
        return WorldView(source, timeout_s=timeout_s, clock=clock)

    return HostRunner(tools, view, folder=folder, clock=clock)


def session_runner(  # noqa: PLR0913 - everything that a session has
    session: SessionView,
    tools: Mapping[str, Tool],
    machines: Mapping[str, Machine] | None = None,
    *,
    services: Mapping[str, Reachable] | None = None,
    worlds: Mapping[str, WorldSource] | None = None,
    on_view: OnRoleView | None = None,
    folder: Path | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> HostRunner[CrossView]:
    """Create the runner of a session's evaluators, which read its state in each wave.

    They run in child processes, which are killed when the wave's time limit expires.

    Args:
        session: the session with the answer.
        tools: evaluators by name.
        machines: machines by role, for evaluators that compare machines.
        services: resources that are reached over TCP, by role, for evaluators that ask them.
        worlds: readers of worlds, by role.
        on_view: receives the views of documents that evaluators ask for.
        folder: folder of the suite.
        clock: clock for the time limit of a wave.
    """

    def view(timeout_s: float) -> CrossView:
        return CrossView(
            session,
            machines or {},
            services=services,
            worlds=worlds,
            timeout_s=timeout_s,
            on_view=on_view,
            clock=clock,
        )

    return HostRunner(tools, view, call=shared_processes.call, folder=folder)


def _call_here(tool: Tool, subject: S, args: Mapping[str, Json], _timeout_s: float) -> object:
    met: object = tool.mark.function(subject, **tool.check(args))
    return met


def _cause_of(exc: MesocosmError) -> Cause:
    if isinstance(exc, GuestCallError):
        return Cause.EVALUATOR
    return Cause.MACHINE if isinstance(exc, LinkError | MachineError) else Cause.EVALUATOR


def _message_of(exc: MesocosmError) -> str:
    return f"{exc.brief} {exc.details}".strip()
