"""``mesocosm image check``: check the folder of a custom image."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003  (typer reads it)
from typing import TYPE_CHECKING, Annotated, Any

import typer

from appliance.cli.output import JsonOption, console_err, print_json, say

if TYPE_CHECKING:
    from foundation.errors import SpecError
    from images.custom.check import Checked


def check(
    folder: Annotated[
        Path | None, typer.Argument(help="Folder of the image, with `image.yaml`.")
    ] = None,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON Schema of `image.yaml` instead.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Check a custom image: its `image.yaml`, the files and packages that it names, free space."""
    from foundation.errors import SpecError, UsageError
    from foundation.settings import get_settings
    from images.custom.check import check_folder
    from images.custom.declaration import json_schema
    from images.custom.phone import is_phone_folder
    from images.progress import show_progress

    if schema:
        print_json(json_schema())
        return
    if folder is None:
        raise UsageError("No folder was given.", resolution="Run `mesocosm image check FOLDER`.")
    try:
        if is_phone_folder(folder, get_settings()):
            _check_phone(folder, json=json)
            return
        with show_progress(folder.name, console_err()) as report:
            checked = check_folder(folder, get_settings(), report)
    except SpecError as exc:
        if not json:
            raise
        print_json({"ok": False, "errors": [_row(part) for part in exc.parts or (exc,)]})
        raise typer.Exit(exc.exit_code) from exc
    if json:
        print_json({"ok": True, **_describe(checked)})
        return
    for line in checked.warnings:
        say(f"warning: {line}")
    own = checked.lineage.own.content
    parents = [folder.content.name for folder in checked.lineage.folders[1:]]
    chain = " → ".join([own.name, *parents, checked.distribution.name])
    say(f"{chain}: {len(own.steps)} steps, {len(checked.lineage.own.tests)} files of tests.")


def _check_phone(folder: Path, *, json: bool) -> None:
    """Check the image of a phone.

    Raises:
        SpecError: it has errors, or needs another kind of phone.
    """
    from appliance.bringup.phone_image import phone_backend
    from foundation.settings import get_settings
    from images.custom.phone import read_phone_image, require_supported

    settings = get_settings()
    image = read_phone_image(folder, settings)
    require_supported(image, phone_backend(settings).profile.backend)
    steps = [step.label for step in image.content.steps]
    if json:
        print_json(
            {"ok": True, "name": image.name, "parents": list(image.lineage[1:]), "steps": steps}
        )
        return
    say(f"{' → '.join(image.lineage)}: {len(steps)} steps.")


def _row(error: SpecError) -> dict[str, Any]:
    return {"brief": error.brief, "details": error.details, "resolution": error.resolution}


def _describe(checked: Checked) -> dict[str, Any]:
    own = checked.lineage.own
    return {
        "name": own.content.name,
        "parents": [folder.content.name for folder in checked.lineage.folders[1:]],
        "shipped": checked.lineage.shipped,
        "distribution": checked.distribution.name,
        "steps": [step.label for step in own.content.steps],
        "tests": [test.name for test in own.tests],
        "warnings": list(checked.warnings),
    }
