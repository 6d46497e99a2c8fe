"""Routes of the appliance: health, metrics, machines, suites, doctor."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response

from controller.agents.registry import AGENTS
from controller.opened_suites import open_unchanged
from controller.registered.agents import agent_copies
from controller.registered.suites import known_suites
from controller.service.api.access import Context, Reader
from controller.service.api.models import Agents, Health, Records, SuiteReply, Suites, TaskReply
from foundation.errors import UnknownNameError

open_router = APIRouter(tags=["appliance"])
router = APIRouter(prefix="/api/v1", tags=["appliance"], dependencies=[Reader])


@open_router.get("/healthz")
def health(context: Context) -> Health:
    """Report that the service is up; needs no token."""
    return Health(status="ok", version=context.version)


@open_router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {}}}},
)
def metrics(context: Context) -> Response:
    """Return the metrics for Prometheus; needs no token and names no run."""
    return Response(context.metrics(), media_type="text/plain; version=0.0.4; charset=utf-8")


@router.get("/machines")
def list_machines(context: Context) -> Records:
    """List the machines with their current states."""
    return Records(records=list(context.machines()))


@router.get("/doctor")
def examine(context: Context) -> Records:
    """Diagnose the host, as `mesocosm doctor --json` does."""
    return Records(records=list(context.doctor()))


@router.get("/status")
def get_status(context: Context) -> dict[str, Any]:
    """Return the appliance's status, as `mesocosm status --json` prints it."""
    return dict(context.status())


@router.get("/suites")
def list_named_suites(context: Context) -> Suites:
    """List the available suites: shipped and registered ones."""
    return Suites(suites=known_suites(context.settings))


@router.get("/agents")
def list_agents(context: Context) -> Agents:
    """List the available agents: shipped and registered ones."""
    return Agents(agents=[*AGENTS, *agent_copies(context.settings).names()])


@router.get("/suites/{name}")
def get_suite(name: str, context: Context) -> SuiteReply:
    """Return a suite."""
    known = known_suites(context.settings)
    if name.partition("@")[0] not in known:
        raise UnknownNameError.of("suite", name, known)
    suite = open_unchanged(name)
    tasks = [
        TaskReply(
            id=task.id,
            instruction=task.instruction,
            roles=task.kinds,
        )
        for task in suite.tasks
    ]
    return SuiteReply(name=suite.name, version=suite.version, digest=suite.digest, tasks=tasks)
