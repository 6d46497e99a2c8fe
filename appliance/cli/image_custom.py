"""``mesocosm image`` for custom images: build, show, verify, remove."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from appliance.cli.output import JsonOption, console_err, print_json, say

if TYPE_CHECKING:
    from foundation.settings import Settings


def find_folder(name: str, settings: Settings) -> Path | None:
    """Return the folder of a custom image; None if an argument names a shipped image.

    Args:
        name: a folder, or the name of a custom image.
        settings: locate registered images.
    """
    from images.custom.declaration import FILE
    from images.custom.phone import find_phone_image
    from images.custom.registered import find_registered, shipped_folders

    path = Path(name)
    if path.name == FILE or (path / FILE).is_file() or "/" in name:
        return path
    own = name.removeprefix("desktop:")
    if found := shipped_folders().get(own) or find_registered(own, settings):
        return found
    phone = find_phone_image(name.removeprefix("phone:"), settings)
    return phone.path if phone else None


def build_folder(folder: Path, settings: Settings, *, force: bool) -> list[dict[str, Any]]:
    """Build a custom image and its parents; return a row for each."""
    from appliance.bringup.custom_image import build_custom_image
    from appliance.cli.image_rows import describe
    from images.custom.phone import is_phone_folder
    from images.manifest import read_manifest
    from images.progress import show_progress

    if is_phone_folder(folder, settings):
        return [_build_phone(folder, settings, force=force)]
    with show_progress(folder.resolve().name, console_err()) as report:
        built = build_custom_image(folder, settings, report, force=force)
    rows = []
    for entry in built:
        seconds = sum(entry.seconds.values())
        phases = ", ".join(f"{phase} {value:.0f} s" for phase, value in entry.seconds.items())
        state = f"ready ({phases}; {entry.tests} tests passed)" if seconds else "current"
        console_err().print(f"{entry.image.label} is {state}.", markup=False)
        row = describe(entry.image.path, read_manifest(entry.image.path))
        rows.append(
            row
            | {
                "seconds": round(seconds, 3),
                "phases": {phase: round(value, 3) for phase, value in entry.seconds.items()},
                "machine": entry.machine_id,
                "tests": entry.tests,
            }
        )
    return rows


def _build_phone(folder: Path, settings: Settings, *, force: bool) -> dict[str, Any]:
    """Build an image of a phone; return its row."""
    from appliance.bringup.phone_image import build_phone_image
    from images.custom.phone import as_row
    from images.progress import show_progress

    with show_progress(folder.resolve().name, console_err()) as report:
        built = build_phone_image(folder, settings, report, force=force)
    state = f"ready ({built.seconds:.1f} s)" if built.machine_id else "current"
    console_err().print(f"phone:{built.image.name} is {state}.", markup=False)
    row = {"seconds": round(built.seconds, 3), "machine": built.machine_id}
    return {**as_row(built.image), **row}


def verify_custom(name: str, digest: str, settings: Settings) -> dict[str, str]:
    """Run the specification of a custom image on a machine; return columns for its row.

    An image that fails is not used any more; one that passes again is.
    """
    from appliance.services.health import hypervisor_answers
    from appliance.verify.custom import verify_image
    from foundation.errors import MesocosmError
    from images.builder import find

    try:
        current = find(f"desktop:{name}", settings)
    except MesocosmError:
        return {}
    if current.digest != digest or not hypervisor_answers(settings):
        return {}
    try:
        report = verify_image(current, settings, say)
    except MesocosmError as exc:
        cause = f"{exc.brief} {exc.details}".strip()
        return {"state": exc.code, "cause": cause, "cure": exc.resolution}
    if report.is_passed:
        return {"reason": f"{len(report.outcomes)} tests passed."}
    return {
        "state": "specification",
        "cause": " ".join(report.lines()),
        "cure": f"The image is not used; correct it and run `mesocosm image build {name}`.",
    }


def show_custom(name: str, settings: Settings, *, json: bool) -> None:
    """Show how a custom image is made, and what is in it that its parent lacks."""
    from appliance.verify.custom_summary import summarize

    summary = summarize(name, settings)
    if json:
        print_json(summary)
        return
    for key, value in summary.items():
        if isinstance(value, list):
            typer.echo(f"{key}: {len(value)}")
            for row in value:
                typer.echo(f"  {row}")
        elif isinstance(value, dict):
            typer.echo(f"{key}: {', '.join(f'{k} {v}' for k, v in value.items()) or '-'}")
        else:
            typer.echo(f"{key}: {value}")


def remove(
    names: Annotated[list[str], typer.Argument(help="Names of custom images.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before removing.")] = False,
    json: JsonOption = False,
) -> None:
    """Remove custom images with their machines, templates, disks and layers, also unfinished ones."""
    from appliance.bringup.custom_removal import remove_custom_image
    from appliance.bringup.phone_image import remove_phone_image
    from foundation.errors import UnknownNameError, UsageError
    from foundation.settings import get_settings
    from images.custom.phone import phone_image_names
    from images.custom.registered import registered_names, unfinished_names

    settings = get_settings()
    phones = phone_image_names(settings)
    known = [*registered_names(settings), *unfinished_names(settings), *phones]
    for name in names:
        if name not in known:
            raise UnknownNameError.of("custom image", name, known)
    if not yes:
        if json:
            raise UsageError("Nothing was removed.", resolution="Use --yes with --json.")
        typer.confirm(f"Remove {', '.join(names)}?", abort=True, err=True)
    rows = []
    for name in names:
        remove_image = remove_phone_image if name in phones else remove_custom_image
        rows.append({"name": name, "removed": remove_image(name, settings)})
    if json:
        print_json({"images": rows})
    else:
        for row in rows:
            say(f"{row['name']}: {', '.join(row['removed']) or 'nothing was left'}")
