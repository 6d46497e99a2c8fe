"""Create the runners of one trial's evaluators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.rendering.keeping import of_role
from evaluators.runners import machine_runner, session_runner, world_runner
from evaluators.strict import SESSION
from evaluators.world.servers import WorldServers
from provisioning.fleet.reaching import find_services
from provisioning.resource import WORLD
from provisioning.world.resource import World

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.actions.session import SessionState
    from evaluators.catalogue import Vocabulary
    from evaluators.graph.outcome import WaveRunner
    from evaluators.rendering.keeping import OnRoleView
    from provisioning.lease import Environment


def make_runners(
    environment: Environment,
    state: SessionState,
    vocabulary: Vocabulary,
    on_view: OnRoleView | None = None,
) -> Mapping[str, WaveRunner]:
    """Create the runner of each machine and world, and of the session.

    Args:
        environment: provides the machines, worlds and services.
        state: state of the session.
        vocabulary: provides the evaluators.
        on_view: receives the views of documents that evaluators ask for.
    """
    machines = environment.machines
    tools = vocabulary.evaluators[SESSION]
    services = find_services(environment.resources)
    worlds = {
        role: WorldServers(resource)
        for role, resource in environment.resources.items()
        if isinstance(resource, World)
    }
    runners: dict[str, WaveRunner] = {
        SESSION: session_runner(
            state,
            tools,
            machines,
            services=services,
            worlds=worlds,
            on_view=on_view,
            folder=vocabulary.folder,
        )
    }
    for role, world in worlds.items():
        tools = vocabulary.evaluators.get(WORLD, {})
        runners[role] = world_runner(world, tools, folder=vocabulary.folder)
    return runners | {
        role: machine_runner(machine, vocabulary, on_view=of_role(on_view, role))
        for role, machine in machines.items()
    }
