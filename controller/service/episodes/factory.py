"""Creation of the episodes that external programs request: suite, machines, context."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from controller.episode.context import RunContext
from controller.episode.episode import Episode
from controller.observation.requirements import require_observation
from controller.planning import code_version, views_documents
from controller.registered.suites import known_suites, pin_suite
from controller.specification.agent import MEMBER
from controller.specification.episode import EpisodeSpec, TeamMember
from controller.wiring import open_fleet, open_suite
from evaluators.rendering.image import require_renderer
from foundation.errors import UnknownNameError
from foundation.measures import record

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.service.episodes.orders import EpisodeRequest
    from evaluators.loading.suite import Suite
    from evaluators.model.task import Task
    from foundation.cancel import CancelToken
    from foundation.settings import Settings
    from provisioning.lease import Fleet
    from provisioning.resource import ResourceSpec

AGENT = "api"
"""Agent label in metrics of externally driven episodes."""


class EpisodeFactory:
    """Creates episodes on the machines of this appliance; opens each suite and fleet once.

    Args:
        settings: locate the machines.
        preflight: checks that the kinds of machines are available.
    """

    def __init__(self, settings: Settings, preflight: Callable[[set[ResourceSpec]], None]) -> None:
        self._settings = settings
        self._preflight = preflight
        self._lock = threading.Lock()
        self._suites: dict[str, Suite] = {}
        self._fleets: dict[str, Fleet] = {}

    def check(self, request: EpisodeRequest) -> Task:
        """Return the task that a request names.

        Raises:
            UnknownNameError: there is no such suite, task or function for observations.
            RequirementError: something that the observation needs is missing.
            SpecError: a file of the suite is invalid.
        """
        suite = self._suite(request.suite)
        require_observation(request.observation, suite.vocabulary)
        return suite.task(request.task)

    def make(self, request: EpisodeRequest, cancel: CancelToken) -> tuple[Episode, Task]:
        """Return a new episode and its task.

        Raises:
            MesocosmError: see `check`; or its machines are not available.
        """
        suite, task = self._suite(request.suite), self.check(request)
        if request.fleet == "real":
            self._preflight(set(task.roles.values()))
            if views_documents([task], suite.vocabulary):
                require_renderer(self._settings)
        context = RunContext(
            self._fleet(request.fleet),
            EpisodeSpec(
                suite=suite.name,
                members={MEMBER: TeamMember(AGENT)},
                code=str(code_version()),
                observation=request.observation.with_parts(
                    trees=request.trees, feedback=request.feedback
                ),
            ),
            vocabulary=suite.vocabulary,
            record=record,
        )
        return Episode(context, cancel=cancel), task

    def _suite(self, name: str) -> Suite:
        known = known_suites(self._settings)
        if name.partition("@")[0] not in known:  # `open_suite` would accept a path, too
            raise UnknownNameError.of("suite", name, known)
        with self._lock:
            reference = pin_suite(name, self._settings)
            if reference not in self._suites:
                self._suites[reference] = open_suite(reference)
            return self._suites[reference]

    def _fleet(self, name: str) -> Fleet:
        with self._lock:
            if name not in self._fleets:
                self._fleets[name] = open_fleet(name, self._settings)
            return self._fleets[name]
