"""View of a session and all of its machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from evaluators.machine_view import MachineView
from evaluators.phone.view import PhoneView
from evaluators.rendering.keeping import of_role
from evaluators.world.view import WorldView
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import EvaluationError, GuestCallError, UnknownNameError
from provisioning.resource import PHONE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluators.rendering.keeping import OnRoleView
    from evaluators.rendering.source import ViewSource
    from evaluators.session.answers import SessionView
    from evaluators.world.view import WorldSource
    from foundation.clock import Clock
    from provisioning.protocols import Machine, Reachable

_GSETTINGS = "/usr/bin/gsettings"


@runtime_checkable
class InfeasibilityReporter(Protocol):
    """A session in which an agent can declare that the task cannot be done."""

    @property
    def infeasible(self) -> str | None:
        """The agent's reason why the task cannot be done; None if it did not declare this."""
        ...


class CrossView:
    """View for evaluators of the session: the answer, and machines by role.

    Args:
        session: the session with the answer.
        machines: machines by role.
        services: resources that are reached over TCP, by role.
        worlds: readers of worlds, by role.
        timeout_s: total time limit of all reads through this view.
        clock: clock for the time limit.
        views: source of views of documents; by default the one of the process.
        on_view: called with role, path and view of each document that an evaluator asked for.
    """

    def __init__(  # noqa: PLR0913 - everything that a session has
        self,
        session: SessionView,
        machines: Mapping[str, Machine],
        *,
        services: Mapping[str, Reachable] | None = None,
        worlds: Mapping[str, WorldSource] | None = None,
        timeout_s: float,
        clock: Clock = SYSTEM_CLOCK,
        views: ViewSource | None = None,
        on_view: OnRoleView | None = None,
    ) -> None:
        self._session = session
        self._documents = views
        self._on_view = on_view
        self._machines = machines
        self._services = services or {}
        self._sources = worlds or {}
        self._timeout_s = timeout_s
        self._clock = clock
        self._views: dict[str, MachineView] = {}
        self._phones: dict[str, PhoneView] = {}
        self._worlds: dict[str, WorldView] = {}

    @property
    def answer(self) -> str | None:
        """The last submitted answer; None if there is none."""
        return self._session.answer

    def has_declared_infeasible(self) -> bool:
        """Return whether the agent declared that the task cannot be done."""
        session = self._session
        return isinstance(session, InfeasibilityReporter) and session.infeasible is not None

    def machine(self, role: str) -> MachineView:
        """Return the view of a machine's files and screen.

        Raises:
            UnknownNameError: the task has no such role.
        """
        if role not in self._views:
            self._views[role] = MachineView(
                self._find(role),
                timeout_s=self._timeout_s,
                views=self._documents,
                on_view=of_role(self._on_view, role),
                clock=self._clock,
            )
        return self._views[role]

    def phone(self, role: str) -> PhoneView:
        """Return the view of a phone.

        Raises:
            UnknownNameError: the task has no such role.
            EvaluationError: the machine is not a phone.
        """
        if role not in self._phones:
            machine = self._find(role)
            if machine.info.kind != PHONE:
                raise EvaluationError(f"{role} is not a phone.")
            self._phones[role] = PhoneView(machine, timeout_s=self._timeout_s, clock=self._clock)
        return self._phones[role]

    def world(self, role: str) -> WorldView:
        """Return the view of a world.

        Raises:
            UnknownNameError: the task has no such world.
        """
        if role not in self._worlds:
            if role not in self._sources:
                raise UnknownNameError.of("world", role, self._sources)
            self._worlds[role] = WorldView(
                self._sources[role], timeout_s=self._timeout_s, clock=self._clock
            )
        return self._worlds[role]

    def endpoint(self, role: str, port: int) -> tuple[str, int]:
        """Return where this host reaches a service, to ask it what machines have done there.

        Args:
            role: role of the service.
            port: the port that machines see.

        Raises:
            UnknownNameError: the task has no such service.
            EvaluationError: the service has no such port.
        """
        if role not in self._services:
            raise UnknownNameError.of("service", role, self._services)
        endpoints = self._services[role].endpoints
        if port not in endpoints:
            raise EvaluationError(f"The service {role} has no port {port}.")
        return endpoints[port]

    def gsetting(self, role: str, schema: str, key: str) -> str:
        """Return a setting of a desktop's user, with text unquoted.

        Raises:
            UnknownNameError: the task has no such role.
            EvaluationError: there is no such schema or key.
            LinkError: the desktop does not respond.
        """
        left_s = self.machine(role).left_s(f"{schema} {key}")
        try:
            result = self._find(role).run([_GSETTINGS, "get", schema, key], timeout_s=left_s)
        except GuestCallError as exc:
            raise EvaluationError(f"{role} does not report {schema} {key}.", exc.details) from exc
        if result.exit_code != 0:
            raise EvaluationError(f"{role} has no setting {schema} {key}.")
        text = result.text
        is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
        return text[1:-1] if is_quoted else text

    def _find(self, role: str) -> Machine:
        if role not in self._machines:
            raise UnknownNameError.of("role", role, self._machines)
        return self._machines[role]
