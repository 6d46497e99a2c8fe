"""``mesocosm image diff``: how an image differs from its parent, or from another image."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads it
from typing import TYPE_CHECKING, Annotated

import typer

from appliance.cli.machine_image import complete_image
from appliance.cli.output import JsonOption, console_err, print_json, print_table, say

if TYPE_CHECKING:
    from appliance.bringup.image_difference import ImageDifference


def diff(
    image: Annotated[str, typer.Argument(help="Name of an image.", autocompletion=complete_image)],
    other: Annotated[
        str,
        typer.Argument(
            help="Name of the image to compare with; the parent by default.",
            show_default=False,
            autocompletion=complete_image,
        ),
    ] = "",
    as_yaml: Annotated[
        bool, typer.Option("--as-yaml", help="Print the start of an `image.yaml`.")
    ] = False,
    to: Annotated[
        Path | None,
        typer.Option(
            "--to",
            metavar="FOLDER",
            help="With --as-yaml: write it there, with the files that differ.",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show how a desktop image differs from its parent: packages, files, settings.

    Files are those of /etc, /home, /usr/local and /opt. Disks are read without starting a machine; the
    first time, this takes a minute.
    """
    from appliance.bringup.image_difference import compare_images
    from appliance.bringup.written_image import write_down
    from foundation.errors import UsageError
    from foundation.settings import get_settings
    from images.progress import show_progress

    if as_yaml and json:
        raise UsageError("Specify either --as-yaml or --json.")
    if to is not None and not as_yaml:
        raise UsageError("--to needs --as-yaml.")
    settings = get_settings()
    with show_progress(image, console_err()) as report:
        difference = compare_images(image, other, settings, report)
        text = write_down(difference, settings, report, folder=to) if as_yaml else ""
    if difference.note:
        say(f"warning: {difference.note}")
    if json:
        print_json(difference.to_dict())
    elif to is not None:
        say(f"{to} is written; `mesocosm image check {to}` checks it.")
    elif as_yaml:
        typer.echo(text, nl=False)
    else:
        _print(difference)


def _print(difference: ImageDifference) -> None:
    from rich.filesize import decimal
    from rich.table import Table
    from rich.text import Text

    image, other = difference.image, difference.other
    title = f"{image.label} ({image.digest[:12]}) and {other.label} ({other.digest[:12]})"
    say(title)
    table = Table(box=None, pad_edge=False)
    for column in ("what", "name", "change", "here", "there"):
        table.add_column(column)
    for package in difference.packages:
        cells = ("package", package.name, package.change, package.version, package.was)
        table.add_row(*map(Text, cells))
    for file in difference.files:
        here = f"-> {file.link}" if file.link else decimal(file.size_bytes)
        there = "" if file.change == "added" else decimal(file.was_bytes)
        cells = ("file", file.path, file.change, "" if file.change == "removed" else here, there)
        table.add_row(*map(Text, cells))
    for setting in difference.settings:
        cells = ("setting", setting.path, setting.change, setting.value, "")
        table.add_row(*map(Text, cells))
    if table.row_count:
        print_table(table)
    counts = (len(difference.packages), len(difference.files), len(difference.settings))
    say("{} packages, {} files, {} settings differ.".format(*counts))
