"""``mesocosm image``: check, build, list, show, verify, remove and prune images."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from appliance.cli.groups import make_group
from appliance.cli.image_check import check
from appliance.cli.image_custom import remove
from appliance.cli.image_diff import diff
from appliance.cli.image_rows import describe, judge
from appliance.cli.image_sbom import sbom
from appliance.cli.image_transfer import export, import_
from appliance.cli.output import JsonOption, console_err, print_json, print_table, progress, say
from appliance.cli.run_options import FleetOption

if TYPE_CHECKING:
    from collections.abc import Iterable

    from appliance.bringup.prune import OldImage
    from appliance.verify.contents import Contents
    from foundation.errors import MesocosmError
    from foundation.settings import Settings


def _names() -> list[str]:
    from foundation.settings import get_settings
    from images.catalog import NAMES, ON_REQUEST
    from images.custom.registered import registered_names, shipped_folders

    return [
        *NAMES,
        *ON_REQUEST,
        *dict.fromkeys((*shipped_folders(), *registered_names(get_settings()))),
    ]


_KINDS = ("desktop", "phone")


def shown_names() -> list[str]:
    """Return what `show` shows."""
    from foundation.settings import get_settings
    from images.custom.registered import registered_names

    return [*_KINDS, *registered_names(get_settings())]


NamesArgument = Annotated[
    list[str] | None,
    typer.Argument(
        help="Images by name, such as `desktop` or `desktop:debian-12`; folders with an "
        "`image.yaml`; or `all`.",
        show_default="all",
        autocompletion=_names,
    ),
]
DistributionOption = Annotated[
    str | None,
    typer.Option(
        "--distribution",
        help="Distribution of the desktop: auto, debian-12, ubuntu-22.04, ...",
    ),
]
ForceOption = Annotated[bool, typer.Option("--force", help="Rebuild images that already exist.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before removing.")]
UntrackedOption = Annotated[
    bool,
    typer.Option(
        "--untracked",
        help="Also remove Mesocosm docker images that this state folder does not list: they belong "
        "to other users of this docker engine, or to nobody.",
    ),
]
LicenceOption = Annotated[
    bool,
    typer.Option(
        "--accept-android-sdk-licence", help="Required for `android`; read the licence first."
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = make_group(
        name="image",
        help="Check, build, list, show, verify, remove and prune images.",
        no_args_is_help=True,
    )
    group.command("build")(build)
    group.command("check")(check)
    group.command("list")(list_images)
    group.command("show")(show)
    group.command("verify")(verify)
    group.command("prune")(prune)
    group.command("sbom")(sbom)
    group.command("diff")(diff)
    group.command("export")(export)
    group.command("import")(import_)
    group.command("remove")(remove)
    app.add_typer(group)


def build(
    names: NamesArgument = None,
    distribution: DistributionOption = None,
    force: ForceOption = False,
    accept_android_sdk_licence: LicenceOption = False,
    json: JsonOption = False,
) -> None:
    """Build images and their base images, if missing or corrupt."""
    from appliance.cli.image_custom import build_folder, find_folder
    from foundation.clock import SYSTEM_CLOCK
    from foundation.settings import get_settings
    from images.builder import Builder
    from images.catalog import NAMES, make_recipe, split_label
    from images.distribution import choose_distribution, get_distribution
    from images.manifest import read_manifest
    from images.progress import show_progress

    settings = get_settings()
    if distribution is not None:
        if distribution != "auto":
            get_distribution(distribution)
        settings = settings.model_copy(update={"distribution": distribution})
    if accept_android_sdk_licence:
        settings = settings.model_copy(update={"accept_android_sdk_licence": True})
    wanted = list(NAMES) if not names or "all" in names else list(dict.fromkeys(names))
    folders = {name: folder for name in wanted if (folder := find_folder(name, settings))}
    for name in [name for name in wanted if name not in folders]:
        make_recipe(*split_label(name, settings))
    if {"desktop", "desktop-container"} & set(wanted):
        choice = choose_distribution(settings, ignore_previous=distribution == "auto")
        console_err().print(f"Desktop: {choice.name}. {choice.reason}", markup=False)
    builder = Builder(settings)
    rows = []
    for name in wanted:
        if name in folders:
            rows += build_folder(folders[name], settings, force=force)
            continue
        start_s = SYSTEM_CLOCK.monotonic_s()
        with show_progress(name, console_err()) as report:
            image = builder.ensure(name, report, repair=True, rebuild=force)
        seconds = SYSTEM_CLOCK.monotonic_s() - start_s
        manifest = read_manifest(image.path)
        console_err().print(f"{image.label} is ready ({seconds:.1f} s).", markup=False)
        rows.append(describe(image.path, manifest) | {"seconds": round(seconds, 3)})
    if json:
        print_json({"images": rows})
    else:
        _print_table(rows)


def list_images(json: JsonOption = False) -> None:
    """List built images as current, stale (and why) or old, and required images that are missing."""
    from appliance.bringup.currency import read_currency, with_currency
    from appliance.bringup.phone_image import phone_rows
    from foundation.settings import get_settings
    from images.builder import Builder, list_manifests
    from images.currency import judge_images
    from images.custom.registered import registered_names

    settings = get_settings()
    built = [describe(folder, manifest) for folder, manifest in list_manifests(settings)]
    with progress() as bar:  # the first time, every input file of an image is read
        bar.add_task("comparing images with today's recipes", total=None)
        states = read_currency(settings)
        labels = [f"desktop:{name}" for name in registered_names(settings)]
        custom = judge_images(labels, Builder(settings)) if labels else []
        rows = with_currency(built, list(dict.fromkeys([*states, *custom])))
        rows += phone_rows(settings)
    if json:
        print_json({"images": rows})
    else:
        _print_table(rows)


def show(
    name: Annotated[
        str,
        typer.Argument(
            help="Kind of machine, desktop or phone; or a custom image.", autocompletion=shown_names
        ),
    ],
    page: Annotated[bool, typer.Option("--page", help="Print a Markdown page.")] = False,
    fleet: FleetOption = "real",
    json: JsonOption = False,
) -> None:
    """Show what is on a machine: programs, fonts, commands, packages, a phone's initial content.

    Leases a machine for this, in the state in which a trial would get it. For a custom image, shows
    how it differs from its parent, its tests and its size, without a machine.
    """
    from appliance.cli.image_custom import show_custom
    from appliance.verify.contents import read_contents
    from controller.wiring import open_fleet
    from foundation.errors import UnknownNameError
    from foundation.settings import get_settings
    from provisioning.resource import ResourceSpec

    if name not in _KINDS:
        if name not in shown_names():
            raise UnknownNameError.of("kind of machine or custom image", name, shown_names())
        show_custom(name, get_settings(), json=json)
        return
    machines = open_fleet(fleet, get_settings(), say)
    with machines.acquire({name: ResourceSpec(name)}) as lease:
        contents = read_contents(lease.environment.machines[name])
    if json:
        print_json(contents.to_dict())
    elif page:
        typer.echo(contents.page(), nl=False)
    else:
        _print_contents(contents)


def _print_contents(contents: Contents) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table("id", "name", title=f"{contents.machine} ({contents.digest[:12]})")
    for key, name in contents.programs.items():
        table.add_row(Text(key), Text(name))
    print_table(table)
    for uri, records in contents.records.items():
        say(f"{uri}: {len(records)} rows")
    for what in ("packages", "fonts", "commands"):
        if names := getattr(contents, what):
            say(f"{len(names)} {what}; --json and --page list them")


def verify(
    name: Annotated[
        str | None,
        typer.Argument(help="Name of an image; all by default.", autocompletion=_names),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Compare each built image with its manifest, byte for byte.

    If the appliance is up, also inspect a desktop of the current image: dialogs, icons, fonts, and
    its screen compared with the reviewed screenshot. Custom images are tested by their
    specification; one that fails is not used any more.
    """
    from appliance.cli.image_custom import verify_custom
    from appliance.verify.desktop import describe_review
    from foundation.errors import ImageMissingError, MesocosmError, UnknownNameError
    from foundation.settings import get_settings
    from images.builder import check_image, list_manifests
    from images.catalog import NAMES, ON_REQUEST
    from images.custom.registered import registered_names
    from images.manifest import Manifest

    settings = get_settings()
    custom = registered_names(settings)
    if name is not None and name not in (*NAMES, *ON_REQUEST, *custom):
        raise UnknownNameError.of("image", name, (*NAMES, *ON_REQUEST, *custom))
    built = [
        (folder, manifest)
        for folder, manifest in list_manifests(settings)
        if name in {None, folder.parent.name, getattr(manifest, "variant", "")}
    ]
    if name is not None and not built:
        raise ImageMissingError(
            f"The image {name} is not built.", resolution=f"Run `mesocosm image build {name}`."
        )
    rows: list[dict[str, Any]] = []
    for folder, manifest in built:
        error: MesocosmError | None = None
        if isinstance(manifest, Manifest):
            try:
                check_image(folder, manifest, thorough=True)
            except MesocosmError as exc:
                error = exc
        else:
            error = manifest
        row = describe(folder, manifest) | judge(error)
        if error is None and row["name"] == "desktop" and row["variant"] in custom:
            row |= verify_custom(row["variant"], row["digest"], settings)
        elif error is None and _can_lease(row, settings):
            row |= describe_review(row["name"], settings, say)
        rows.append(row)
    if json:
        print_json({"ok": all(row["state"] == "ok" for row in rows), "images": rows})
    else:
        _print_table(rows)
    if any(row["state"] != "ok" for row in rows):
        raise typer.Exit(1)


def _can_lease(row: dict[str, Any], settings: Settings) -> bool:
    """Return whether a machine of a verified image could be leased now."""
    from appliance.services.health import hypervisor_answers
    from appliance.verify.desktop import IMAGES
    from foundation.errors import ImageError
    from images.builder import Builder

    if row["name"] not in IMAGES:
        return False
    if row["name"] == "desktop" and not hypervisor_answers(settings):
        return False
    try:
        return bool(row["recipe_digest"] == Builder(settings).recipe_digest(row["name"]))
    except ImageError:  # its base image is gone
        return False


def prune(
    names: NamesArgument = None,
    yes: YesOption = False,
    untracked: UntrackedOption = False,
    json: JsonOption = False,
) -> None:
    """Remove images that the current recipes would not produce, unless something uses them.

    Keeps images that a machine, a template, a container or a process needs. Without --yes, asks
    for confirmation, or only lists the images if there is no terminal.
    """
    import sys

    from appliance.bringup.prune import Pruner
    from foundation.errors import UnknownNameError
    from foundation.settings import get_settings

    wanted = [] if not names or "all" in names else names
    for name in wanted:
        if name not in _names():
            raise UnknownNameError.of("image", name, _names())
    with Pruner(get_settings(), wanted, untracked=untracked) as pruner:
        images = pruner.find()
        going = [image for image in images if not image.kept]
        if not json:
            _print_old(images)
        asks = bool(going) and not yes and not json and sys.stdin.isatty()
        removes = bool(going) and (yes or (asks and _confirm(len(going))))
        if removes:
            images = pruner.remove(images, say)
    if json:
        rows = [image.to_dict() | {"removed": removes and not image.kept} for image in images]
        print_json({"images": rows})
    elif going and not removes:
        say("Nothing was removed. To remove these images, use --yes.")


def _confirm(count: int) -> bool:
    target = "this image" if count == 1 else f"these {count} images"
    return typer.confirm(f"Remove {target}?", default=False, err=True)


def _print_old(images: list[OldImage]) -> None:
    from rich.filesize import decimal
    from rich.table import Table
    from rich.text import Text

    if not images:
        say("There are no old images.")
        return
    table = Table(box=None, pad_edge=False)
    for title in ("image", "variant", "digest", "size", "kept for"):
        table.add_column(title)
    for image in images:
        cells = (
            image.name,
            image.variant,
            image.digest[:12],
            decimal(image.size_bytes),
            image.kept,
        )
        table.add_row(*map(Text, cells))
    print_table(table)
    total = sum(image.size_bytes for image in images if not image.kept)
    say(f"Would free at most {decimal(total)}; docker images share layers.")


def _sentences(notes: Iterable[str], variant: str) -> str:
    """Return the notes of a manifest as one text, without the variant, which has its own column."""
    parts = [part for note in notes for part in note.split("; ") if part and part != variant]
    return " ".join(part if part.endswith(".") else f"{part}." for part in parts)


def _print_table(rows: list[dict[str, Any]]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for title in ("image", "variant", "digest", "packages", "built", "seconds", "state", "notes"):
        table.add_column(title)
    for row in rows:
        notes = _sentences(row.get("notes", {}).values(), row.get("variant", ""))
        if screen := row.get("screen"):
            notes = f"screen: {screen}; {notes}"
        if reason := row.get("reason"):
            notes = f"{reason} {notes}".strip()
        state = row.get("state", "ok")
        if state != "ok":
            notes = f"{state}: {row['cause']} {row['cure']}"
        cells = (
            row["name"],
            row.get("variant", "?"),
            row.get("digest", "?" * 12)[:12],
            str(row.get("packages", "")),
            row.get("built_at", "")[:19],
            f"{row['build_seconds']:.1f}" if "build_seconds" in row else "",
            row.get("currency", row.get("state", "")),
            notes,
        )
        table.add_row(*(Text(cell) for cell in cells))
    print_table(table)
