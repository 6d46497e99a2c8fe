"""``mesocosm bench``: measure what the design promises."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from appliance.cli.output import JsonOption, console_out, print_json, progress

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from appliance.bench.rows import Row

KindOption = Annotated[
    str, typer.Option("--kind", help="desktop, phone, or both.", show_default=True)
]
CountOption = Annotated[int, typer.Option("-n", "--count", min=1, help="Samples of each row.")]


def register(app: typer.Typer) -> None:
    """Add the command group."""
    group = typer.Typer(no_args_is_help=True, help="Measure the appliance on this host.")
    group.command("reset")(reset)
    group.command("phone")(phone)
    app.add_typer(group, name="bench")


def reset(count: CountOption = 100, kind: KindOption = "both", json: JsonOption = False) -> None:
    """Measure how long a used machine takes until it is verified fresh again."""
    from appliance.base.errors import UnknownNameError
    from appliance.base.settings import get_settings
    from appliance.bench.reset import KINDS
    from appliance.bench.rows import table
    from provisioning.accelerator import find_accelerator
    from provisioning.backends import host_makers

    wanted = [one for one in KINDS if kind in (one.value, "both")]
    if not wanted:
        raise UnknownNameError.of("kind of machine", kind, [*(one.value for one in KINDS), "both"])
    settings = get_settings()
    accelerator = find_accelerator(settings).name
    makers = host_makers(settings)
    rows: list[Row] = []
    for one in wanted:
        with progress() as bar:
            task = bar.add_task(f"{one.value}: making one", total=None)
            tick = partial(_tick, bar, task)
            rows += KINDS[one](makers[one], count, tick)
    if json:
        print_json({"accelerator": accelerator, "rows": [row.to_dict() for row in rows]})
    else:
        console_out().print(table(rows, accelerator))


def phone(count: CountOption = 50, json: JsonOption = False) -> None:
    """Measure a reference phone: cold start, rewind, tap, picture, hierarchy, memory."""
    from appliance.base.settings import get_settings
    from appliance.bench.phone import bench_phone_figures
    from appliance.bench.rows import table
    from provisioning.docker.maker import PhoneMaker

    with progress() as bar:
        task = bar.add_task("phone: making one", total=None)
        maker = PhoneMaker(get_settings())
        rows = bench_phone_figures(maker, count, partial(_tick, bar, task))
    if json:
        print_json({"accelerator": "none", "rows": [row.to_dict() for row in rows]})
    else:
        console_out().print(table(rows, "none"))


def _tick(bar: Progress, task: TaskID, name: str) -> None:
    bar.update(task, description=name, advance=1)
