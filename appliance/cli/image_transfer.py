"""``mesocosm image export`` and ``import``: move an image of one's own to another appliance."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads it
from typing import Annotated

import typer

from appliance.cli.output import JsonOption, console_err, print_json, say


def _names(incomplete: str) -> list[str]:
    from foundation.settings import get_settings
    from images.custom.registered import registered_names

    return [name for name in registered_names(get_settings()) if name.startswith(incomplete)]


def export(
    name: Annotated[str, typer.Argument(help="Name of a custom image.", autocompletion=_names)],
    file: Annotated[Path, typer.Argument(help="File to create, such as office.mesocosm.")],
    json: JsonOption = False,
) -> None:
    """Write a custom or hand-made image to a file: disk, memory state, manifest, checksums.

    An interrupted export leaves nothing.
    """
    from appliance.bringup.image_export import export_image
    from foundation.clock import SYSTEM_CLOCK
    from foundation.settings import get_settings
    from images.progress import show_progress

    start_s = SYSTEM_CLOCK.monotonic_s()
    with show_progress(name, console_err()) as report:
        record = export_image(name, file, get_settings(), report)
    seconds, size = SYSTEM_CLOCK.monotonic_s() - start_s, file.stat().st_size
    if json:
        facts = record.model_dump(mode="json", include={"name", "digest", "is_hand_made", "facts"})
        has_memory = {"has_memory": record.has_memory}
        sizes = {"file": str(file), "size_bytes": size, "seconds": round(seconds, 3)}
        print_json(facts | has_memory | sizes)
        return
    memory = "with" if record.has_memory else "without"
    say(f"{file}: {size >> 20} MiB, {memory} memory state, in {seconds:.0f} s.")


def import_(
    file: Annotated[Path, typer.Argument(help="A file of `mesocosm image export`.")],
    name: Annotated[
        str,
        typer.Option("--as", metavar="NAME[:TAG]", help="Its name here; by default, as exported."),
    ] = "",
    json: JsonOption = False,
) -> None:
    """Import an image from a file, after verifying its checksums.

    Where QEMU, CPU, accelerator or anything else that its memory state depends on differ, it is booted
    and saved anew. If the image is there already, nothing is done.
    """
    from appliance.bringup.image_import import import_image
    from appliance.cli.image_rows import describe
    from foundation.settings import get_settings
    from images.manifest import read_manifest
    from images.progress import show_progress

    with show_progress(file.name, console_err()) as report:
        imported = import_image(file, get_settings(), report, name=name)
    phases = {phase: round(seconds, 3) for phase, seconds in imported.seconds.items()}
    if json:
        row = describe(imported.image.path, read_manifest(imported.image.path))
        result = {
            "is_new": imported.is_new,
            "differs": list(imported.differs),
            "machine": imported.machine_id,
            "phases": phases,
        }
        print_json(row | result)
        return
    label = imported.image.label
    if not imported.is_new:
        say(f"{label} is there already.")
        return
    text = ", ".join(f"{phase} {seconds:.0f} s" for phase, seconds in phases.items())
    say(f"{label} is ready ({text}).")
    if imported.differs:
        say(
            f"It was booted and saved anew: other {', '.join(imported.differs)} than at its export."
        )
