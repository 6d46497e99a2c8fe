"""``mesocosm bench``: measure the performance of the appliance on this host."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from appliance.cli.groups import make_group
from appliance.cli.output import (
    JsonOption,
    console_err,
    console_out,
    print_json,
    print_table,
    progress,
    say,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from rich.progress import Progress, TaskID
    from rich.table import Table

    from appliance.bench.graph import GraphRow
    from appliance.bench.ocr import Finding, Reading
    from appliance.bench.rows import Row
    from provisioning.fleet.local import LocalFleet

KindOption = Annotated[
    str, typer.Option("--kind", help="desktop, phone, or both.", show_default=True)
]
CountOption = Annotated[int, typer.Option("-n", "--count", min=1, help="Samples per row.")]
PageOption = Annotated[
    Path | None, typer.Option("--page", help="Markdown file to write the table to.")
]


def register(app: typer.Typer) -> None:
    """Add the command group."""
    group = make_group(no_args_is_help=True, help="Measure the appliance on this host.")
    group.command("reset")(reset)
    group.command("fork")(fork)
    group.command("density")(density)
    group.command("leases")(leases)
    group.command("documents")(documents)
    group.command("graph")(graph)
    group.command("ocr")(ocr)
    group.command("phone")(phone)
    group.command("screen")(screen)
    group.command("schedule")(schedule)
    group.command("step")(step)
    group.command("world")(world)
    app.add_typer(group, name="bench")


def reset(
    count: CountOption = 100,
    kind: KindOption = "both",
    page: PageOption = None,
    json: JsonOption = False,
) -> None:
    """Measure how long a used machine takes to become verified fresh again."""
    from appliance.bench.reset import KINDS
    from appliance.bench.rows import collect
    from foundation.errors import UnknownNameError
    from foundation.settings import get_settings
    from provisioning.fleet.host_backends import HostBackends
    from provisioning.resource import ResourceSpec

    wanted = [machine_kind for machine_kind in KINDS if kind in (machine_kind, "both")]
    if not wanted:
        raise UnknownNameError.of("kind of machine", kind, [*KINDS, "both"])
    backends = HostBackends(get_settings())
    rows: list[Row] = []
    with kept(partial(show, rows, f"mesocosm bench reset -n {count}", page, json=json)):
        for machine_kind in wanted:
            with progress() as bar:
                task = bar.add_task(f"{machine_kind}: starting", total=None)
                backend = backends.of(ResourceSpec(machine_kind))
                collect(KINDS[machine_kind](backend, count, partial(_tick, bar, task)), rows)


def fork(
    count: CountOption = 100,
    image: Annotated[
        str, typer.Option(help="Measure only forks of this image, such as a custom one.")
    ] = "",
    world: Annotated[
        bool, typer.Option("--world", help="Measure only forks, with and without a world.")
    ] = False,
    page: PageOption = None,
    json: JsonOption = False,
) -> None:
    """Measure how long a lease takes: standby desktops, phones, cold forks, boots."""
    from appliance.bench.fork import bench_fork

    warm, cold = _forking_fleet(standing_by=1), _forking_fleet(standing_by=0)
    name = "fork" + (f" --image {image}" if image else "") + (" --world" if world else "")
    _measure(
        name,
        count,
        page,
        lambda tick: bench_fork(warm, cold, count, tick, image=image, has_world=world),
        json=json,
    )


def density(count: CountOption = 8, page: PageOption = None, json: JsonOption = False) -> None:
    """Measure memory and response times of desktops that are leased at the same time."""
    from appliance.bench.fork import bench_density

    fleet = _forking_fleet(standing_by=0)
    _measure("density", count, page, lambda tick: bench_density(fleet, count, tick), json=json)


def leases(
    seconds: Annotated[float, typer.Option(min=1.0, help="Duration of the measurement.")] = 600.0,
    page: PageOption = None,
    json: JsonOption = False,
) -> None:
    """Measure how many leases per hour one host handles: acquire, one action, release."""
    from appliance.bench.fork import bench_leases
    from foundation.settings import get_settings
    from provisioning.fleet.local import LocalFleet

    fleet = LocalFleet(get_settings(), say=say)
    name = f"leases --seconds {seconds:g}"
    _measure(name, None, page, lambda tick: bench_leases(fleet, seconds, tick), json=json)


def schedule(
    count: Annotated[int, typer.Option("-n", "--count", min=50, help="Queued trials.")] = 10_000,
    machines: Annotated[int, typer.Option(min=10, help="Machines in memory, held at once.")] = 1000,
    page: PageOption = None,
    json: JsonOption = False,
) -> None:
    """Measure the CPU time that the framework adds to a trial, with many machines in memory.

    Ten queued runs share the trials and machines, so both must be multiples of ten.
    """
    from tempfile import TemporaryDirectory

    from appliance.bench.schedule import RUNS, bench_schedule
    from foundation.allocator import limit_arenas
    from foundation.errors import UsageError

    if count % RUNS or machines % RUNS or machines > count:
        raise UsageError(
            f"{count} trials on {machines} machines cannot be split evenly among {RUNS} runs.",
            resolution=f"Use multiples of {RUNS}, and no more machines than trials.",
        )
    limit_arenas()  # as the worker does
    name = f"schedule -n {count} --machines {machines}"
    with TemporaryDirectory(prefix="mesocosm-bench-") as folder:
        _measure(
            name,
            None,
            page,
            lambda tick: bench_schedule(machines, count, Path(folder), tick),
            json=json,
        )


def _forking_fleet(*, standing_by: int) -> LocalFleet:
    """Return a fleet that gives every lease its own fork."""
    from foundation.settings import get_settings
    from provisioning.fleet.local import LocalFleet

    wanted = {"desktop_reset": "fork", "desktop_pool": str(standing_by)}
    return LocalFleet(get_settings().model_copy(update=wanted), say=say)


def _measure(
    name: str,
    count: int | None,
    page: Path | None,
    bench: Callable[[Callable[[str], None]], Generator[Row]],
    *,
    json: bool,
) -> None:
    """Collect the rows of a benchmark while showing progress, then print and save them."""
    from appliance.bench.rows import collect

    command = f"mesocosm bench {name}" + ("" if count is None else f" -n {count}")
    rows: list[Row] = []
    with (
        kept(partial(show, rows, command, page, json=json)),
        progress() as bar,
    ):
        tick = partial(_tick, bar, bar.add_task(f"{name}: preparing", total=None))
        collect(bench(tick), rows)


@contextmanager
def kept(show: Callable[..., None]) -> Iterator[None]:
    """Show what a block measured, even if Ctrl-C, SIGTERM or an error ends it early.

    Args:
        show: called at the end with ``is_whole``.
    """
    is_whole = False
    try:
        yield
        is_whole = True
    finally:
        show(is_whole=is_whole)


def show(
    rows: list[Row], command: str, page: Path | None, *, json: bool, is_whole: bool = True
) -> None:
    """Print rows as JSON or as a table, and write them to a page if one is given."""
    import os

    from appliance.bench.page import put_section, section
    from appliance.bench.rows import table
    from foundation.clock import SYSTEM_CLOCK
    from foundation.settings import get_settings
    from provisioning.accelerator.detection import find_accelerator

    if not rows and not is_whole:
        return
    accelerator = find_accelerator(get_settings()).name
    if json:
        records = [row.to_dict() for row in rows]
        print_json({"accelerator": accelerator, "ended_early": not is_whole, "rows": records})
    else:
        print_table(table(rows, accelerator))
    _warn(is_whole)
    if page is not None:
        versions = {"accelerator": accelerator, **_versions()}
        text = section(
            command,
            rows,
            versions=versions,
            now_s=SYSTEM_CLOCK.now_s(),
            cores=os.cpu_count() or 1,
            is_whole=is_whole,
        )
        put_section(page, text)
        console_err().print(f"{page}: {command}")


def _warn(is_whole: bool) -> None:
    from appliance.bench.page import EARLY

    if not is_whole:
        say(EARLY.capitalize() + ".")


def _versions() -> dict[str, str]:
    """Return the versions of libvirt and QEMU; empty if no hypervisor answers."""
    from foundation.errors import MesocosmError
    from foundation.settings import get_settings
    from provisioning.desktop.qemu.connection import Hypervisor

    try:
        return Hypervisor(get_settings().libvirt_uri).version()
    except MesocosmError:
        return {}


def screen(count: CountOption = 100, page: PageOption = None, json: JsonOption = False) -> None:
    """Measure how long a desktop screenshot takes, compared with libvirt's and the guest's own."""
    from appliance.bench.screen import bench_screen
    from foundation.settings import get_settings
    from provisioning.desktop.qemu.backend import QemuBackend

    settings = get_settings()
    backend, uri = QemuBackend(settings), settings.libvirt_uri
    _measure("screen", count, page, lambda tick: bench_screen(backend, uri, count, tick), json=json)


def step(count: CountOption = 50, page: PageOption = None, json: JsonOption = False) -> None:
    """Measure a step of an agent: action, settled screen, observation with marks."""
    from appliance.bench.step import bench_step
    from foundation.settings import get_settings
    from provisioning.desktop.qemu.backend import QemuBackend

    backend = QemuBackend(get_settings())
    _measure("step", count, page, lambda tick: bench_step(backend, count, tick), json=json)


def world(
    count: CountOption = 20,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the persona.")] = 0,
    page: PageOption = None,
    json: JsonOption = False,
) -> None:
    """Measure a world: made for a seed, reset and verified, searched; with its memory."""
    from appliance.bench.world import bench_world
    from foundation.settings import get_settings
    from provisioning.resource import WORLD, ResourceSpec
    from provisioning.world.backend import WorldBackend

    backend = WorldBackend(get_settings(), ResourceSpec(WORLD, parameters={"seed": seed}))
    name = f"world -n {count} --seed {seed}"
    _measure(name, count, page, lambda tick: bench_world(backend, count, tick), json=json)


def graph(count: CountOption = 200, page: PageOption = None, json: JsonOption = False) -> None:
    """Measure the overhead of the evaluator graph per step, without evaluators, in milliseconds.

    Also measure how long the exact CS_max of a graph of 40 nodes takes.
    """
    from appliance.bench.consistency import bench_consistency
    from appliance.bench.graph import SHAPES, SIZES, bench_graphs
    from appliance.bench.rows import collect

    rows: list[GraphRow] = []
    orders: list[Row] = []
    command = f"mesocosm bench graph -n {count}"
    with kept(partial(_show_graphs, rows, orders, command, page, json=json)):
        with progress() as bar:
            task = bar.add_task("graphs", total=len(SHAPES) * len(SIZES))
            collect(bench_graphs(SHAPES, SIZES, count, partial(_tick, bar, task)), rows)
        collect(bench_consistency(min(count, 50)), orders)


def _show_graphs(
    rows: list[GraphRow],
    orders: list[Row],
    command: str,
    page: Path | None,
    *,
    json: bool,
    is_whole: bool,
) -> None:
    from appliance.bench.graph import SHAPES, growth
    from appliance.bench.page import markdown

    growths = {shape: growth(rows, shape) for shape in SHAPES}
    summary = ", ".join(f"{shape} {value:.2f}" for shape, value in growths.items() if value)
    summary = f"Growth of the median step with the nodes (1 is linear): {summary}."
    tables = [_graph_table(rows), _order_table(orders)]
    if json:
        print_json(
            {
                "ended_early": not is_whole,
                "rows": [row.to_dict() for row in rows],
                "growth_exponents": growths,
                "consistency": [row.to_dict() for row in orders],
            }
        )
    else:
        print_table(tables[0])
        console_out().print(summary)
        print_table(tables[1])
    _warn(is_whole)
    body = f"{markdown(tables[0])}\n\nMilliseconds. {summary}\n\n{markdown(tables[1])}"
    _keep(page, command, body, is_whole=is_whole)


def _keep(page: Path | None, command: str, body: str, *, is_whole: bool) -> None:
    """Write a section to a page if one is given."""
    import os

    from appliance.bench.page import put_section, section_with_body
    from foundation.clock import SYSTEM_CLOCK

    if page is not None:
        cores = os.cpu_count() or 1
        now_s = SYSTEM_CLOCK.now_s()
        text = section_with_body(
            command, body, versions={}, now_s=now_s, cores=cores, is_whole=is_whole
        )
        put_section(page, text)
        console_err().print(f"{page}: {command}")


def _order_table(rows: list[Row]) -> Table:
    from rich.table import Table

    drawn = Table("row", "what", title="exact CS_max, ms")
    for name in ("n", "p50", "p95", "p99", "max"):
        drawn.add_column(name, justify="right")
    for row in rows:
        samples = [row.percentile_s(percent) or 0.0 for percent in (50, 95, 99, 100)]
        figures = [f"{sample * 1e3:.1f}" for sample in samples]
        drawn.add_row(row.name, row.what, str(len(row.samples_s)), *figures)
    return drawn


def _graph_table(rows: list[GraphRow]) -> Table:
    from rich.table import Table

    drawn = Table(title="framework cost, ms")
    keys = ("step_p50_ms", "step_p99_ms", "idle_step_p50_ms", "whole_step_p50_ms")
    for name in ("shape", "nodes", "edges", *keys, "waves", "round trips", "one per wave"):
        title = name.removesuffix("_ms").replace("_", " ")
        drawn.add_column(title, justify="left" if name == "shape" else "right")
    for row in rows:
        record = row.to_dict()
        drawn.add_row(
            row.shape,
            str(row.nodes),
            str(row.edges),
            *(f"{record[key]:.2f}" for key in keys),
            str(row.waves),
            str(row.round_trips),
            "yes" if row.has_one_trip_a_wave else "NO",
        )
    return drawn


def ocr(
    count: Annotated[int, typer.Option("-n", "--count", min=1, help="Readings per engine.")] = 3,
    picture: Annotated[Path | None, typer.Option(help="Read this picture instead.")] = None,
    expected: Annotated[Path | None, typer.Option(help="JSON list of its text strings.")] = None,
    page: PageOption = None,
    json: JsonOption = False,
) -> None:
    """Measure how OCR engines read the text of a desktop screenshot, in one table.

    Also measure how feature matchers find a part of it.
    """
    from appliance.bench import ocr as bench
    from appliance.bench.page import markdown
    from appliance.bench.rows import collect
    from foundation.errors import UsageError

    if (picture is None) != (expected is None):
        raise UsageError("--picture and --expected must be used together.")
    pixels, strings = bench.load_picture(picture or bench.PICTURE, expected or bench.EXPECTED)
    rows: list[Reading] = []
    finds: list[Finding] = []

    def show_all(*, is_whole: bool) -> None:
        tables = bench.table(rows, pixels), bench.matcher_table(finds)
        if json:
            records = [row.to_dict() for row in rows], [row.to_dict() for row in finds]
            print_json({"ended_early": not is_whole, "rows": records[0], "matchers": records[1]})
        else:
            for table in tables:
                print_table(table)
        _warn(is_whole)
        height, width = pixels.shape[:2]
        head = f"A picture of {width}x{height} px with {len(strings)} expected strings."
        body = "\n\n".join([head, *map(markdown, tables)])
        _keep(page, f"mesocosm bench ocr -n {count}", body, is_whole=is_whole)

    with kept(show_all):
        collect(bench.bench_ocr(pixels, strings, count), rows)
        collect(bench.bench_matchers(pixels, count), finds)


def phone(count: CountOption = 50, page: PageOption = None, json: JsonOption = False) -> None:
    """Measure a reference phone: cold start, rewind, tap, screenshot, hierarchy, memory."""
    from appliance.bench.phone import bench_phone_figures
    from foundation.settings import get_settings
    from provisioning.phone.reference.backend import PhoneBackend

    backend = PhoneBackend(get_settings())
    _measure(
        "phone", count, page, lambda tick: bench_phone_figures(backend, count, tick), json=json
    )


def documents(count: CountOption = 20, page: PageOption = None, json: JsonOption = False) -> None:
    """Measure how long views of documents take, and their memory: text, slides, workbook, PDF; new and cached."""
    from contextlib import closing

    from appliance.bench.documents import bench_documents
    from evaluators.rendering.client import open_views
    from foundation.settings import get_settings

    with closing(open_views(get_settings())) as views:
        _measure(
            "documents", count, page, lambda tick: bench_documents(views, count, tick), json=json
        )


def _tick(bar: Progress, task: TaskID, name: str) -> None:
    bar.update(task, description=name, advance=1)
