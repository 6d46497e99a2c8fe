"""The pages of experiments: their list, and the table of one."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, JSONResponse

from controller.experiments.record import ExperimentRecord, ExperimentStore
from controller.experiments.report import ExperimentReport, read_experiment_report
from controller.service.api.access import Context
from controller.service.web.session import Viewer
from controller.service.web.templating import page
from foundation.errors import MesocosmError

router = APIRouter(include_in_schema=False)


@router.get("/experiments")
def experiments(context: Context, role: Viewer) -> HTMLResponse:
    """Show all experiments, latest first."""
    store = ExperimentStore(context.settings.experiments_dir)
    records: list[ExperimentRecord] = []
    faults: dict[str, str] = {}
    for name in store.names():
        try:
            records.append(store.open(name))
        except MesocosmError as exc:
            faults[name] = exc.brief
    records.sort(key=lambda record: record.started_s, reverse=True)
    playing = {record.id for record in records if store.is_playing(record.id)}
    return page(
        "experiments/experiments",
        role=role,
        context=context,
        records=records,
        faults=faults,
        playing=playing,
    )


@router.get("/experiments/{name}")
def one_experiment(name: str, context: Context, role: Viewer) -> HTMLResponse:
    """Show the table of an experiment."""
    store = ExperimentStore(context.settings.experiments_dir)
    report = _report(store, name, context)
    is_playing = store.is_playing(name)
    return page(
        "experiments/experiment", role=role, context=context, report=report, is_playing=is_playing
    )


@router.get("/experiments/{name}/json")
def as_json(name: str, context: Context, _role: Viewer) -> JSONResponse:
    """Return an experiment as ``mesocosm run --matrix … --json`` prints it."""
    store = ExperimentStore(context.settings.experiments_dir)
    return JSONResponse(_report(store, name, context).to_dict())


def _report(store: ExperimentStore, name: str, context: Context) -> ExperimentReport:
    return read_experiment_report(store.open(name), context.store)
