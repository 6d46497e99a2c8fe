"""The machines of one trial, from their lease to their release."""

from __future__ import annotations

import contextlib
import logging
from dataclasses import asdict
from typing import TYPE_CHECKING

from controller.episode.egress import EgressSession
from controller.episode.faults import message_of
from controller.episode.limits import wall_limit_s
from controller.episode.live import LiveTrial
from controller.episode.recording import recording
from controller.episode.result import FAILED, INCONCLUSIVE, Ending, MachineRecord, Reason
from foundation.errors import LeaseExpiredError, MesocosmError

if TYPE_CHECKING:
    from controller.episode.conclusion import Conclusion
    from controller.episode.context import EventSink, RunContext
    from evaluators.model.task import Task
    from foundation.cancel import CancellableClock
    from provisioning.lease import Environment, Lease

_LOG = logging.getLogger(__name__)
_LEASE_SLACK_S = 1800.0
"""More than setup, the last step and the last evaluation take together on a slow host."""


class TrialMachines:
    """Leases the machines of one trial, connects proxies and recorders, and releases them.

    Args:
        context: the context that the trial shares with others.
        log: records its events.
        clock: waits until the trial is cancelled.
    """

    def __init__(self, context: RunContext, log: EventSink, clock: CancellableClock) -> None:
        self._context = context
        self._log = log
        self._clock = clock
        self._stack = contextlib.ExitStack()
        self._lease: Lease | None = None

    def lease(self, task: Task, conclusion: Conclusion) -> Environment:
        """Lease the machines of a task and record them in the conclusion.

        Raises:
            MachineError: a machine is unavailable.
            StoreError: the log cannot be written.
        """
        ttl_s = wall_limit_s(task.limits) + _LEASE_SLACK_S
        self._lease = self._stack.enter_context(
            self._context.fleet.acquire(task.roles, ttl_s, cancel=self._clock.token)
        )
        environment = self._lease.environment
        conclusion.machines = tuple(
            MachineRecord(role=role, **asdict(machine.info))
            for role, machine in environment.resources.items()
        )
        self._log.append(
            "lease",
            machines=[asdict(record) for record in conclusion.machines],
            resets={role: asdict(report) for role, report in environment.resets.items()},
        )
        return environment

    def connect(self, task: Task, environment: Environment, conclusion: Conclusion) -> LiveTrial:
        """Open the allowed network access, start recording, and return the live trial.

        Raises:
            MesocosmError: a machine failed.
        """
        context, machines = self._context, environment.machines
        conclusion.egress = EgressSession(task)
        self._stack.enter_context(conclusion.egress.opened(machines))
        self._stack.enter_context(
            recording(machines, self._log, context.spec.recording_hz, context.clock)
        )
        cancel = self._clock.token
        live = LiveTrial(task, environment, context, self._log, self._clock, cancel=cancel)
        live.renew = self._renew
        return live

    def _renew(self) -> None:
        """Extend the lease to its original duration from now.

        Raises:
            LeaseExpiredError: it has ended.
        """
        if self._lease is not None:
            self._lease.renew()

    def explain(self, ending: Ending) -> Ending:
        """Return the ending of a trial, taking into account that its lease may have ended."""
        try:
            if self._lease is not None:
                _ = self._lease.environment
        except LeaseExpiredError as exc:
            if ending.reason not in FAILED | INCONCLUSIVE - {Reason.ENVIRONMENT_ERROR}:
                detail = f"{message_of(exc)}\n{ending.detail}".strip()
                return Ending(Reason.ENVIRONMENT_ERROR, detail)
        except MesocosmError as exc:
            _LOG.info("lease of a trial that is over: %s", exc)
            if ending.reason is Reason.ENVIRONMENT_ERROR:
                return Ending(ending.reason, f"{message_of(exc)}\n{ending.detail}".strip())
        return ending

    def release(self) -> None:
        """Release the machines; can be called repeatedly.

        Raises:
            StoreError: the log cannot be written.
        """
        try:
            self._stack.close()
        except MesocosmError as exc:
            self._log.append("return_error", error=message_of(exc))
