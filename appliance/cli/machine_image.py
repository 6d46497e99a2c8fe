"""``mesocosm machine start --image`` and ``mesocosm machine save``: from an image to a machine and back."""

from __future__ import annotations

from typing import Annotated

import typer

from appliance.cli.machine_lookup import MachineArgument, find_machine, operations
from appliance.cli.output import JsonOption, console_err, print_json, say


def complete_image(incomplete: str) -> list[str]:
    """Return the names of desktop images that begin with the typed text."""
    from foundation.settings import get_settings
    from images.custom.registered import registered_names
    from images.distribution import DISTRIBUTIONS

    names = ["desktop", *DISTRIBUTIONS, *registered_names(get_settings())]
    return [name for name in names if name.startswith(incomplete)]


ImageOption = Annotated[
    str,
    typer.Option(
        "--image",
        help="Start a new machine of this image, such as `desktop` or `office`.",
        autocompletion=complete_image,
    ),
]


def start_of_image(name: str, *, json: bool) -> None:
    """Start a desktop of an image for manual use."""
    from appliance.bringup.fixed_images import require_image
    from foundation.settings import get_settings
    from provisioning.resource import DESKTOP, ResourceSpec

    own = name.removeprefix(f"{DESKTOP}:")
    require_image(name, get_settings())
    spec = ResourceSpec(DESKTOP, "" if own == DESKTOP else own)
    machine_id, report = operations().fork(spec)
    if json:
        print_json({"machine": machine_id, "seconds": round(report.seconds, 4)})
        return
    say(
        f"{machine_id} runs. Its screen: `mesocosm machine vnc {machine_id}`, or the page Machines."
    )
    say(f"As root: `mesocosm machine shell {machine_id}`.")
    say(f"When it is set up: `mesocosm machine save {machine_id} --as NAME:TAG`.")
    typer.echo(machine_id)


def save(
    machine: MachineArgument,
    name: Annotated[str, typer.Option("--as", metavar="NAME[:TAG]", help="Name of the image.")],
    json: JsonOption = False,
) -> None:
    """Save a desktop that was set up by hand, RAM included, as an image that forks at once.

    The machine stays as it is. Every result of the image is marked hand-made; `mesocosm image diff`
    shows how it differs from its parent.
    """
    from appliance.bringup.machine_saving import save_machine
    from appliance.cli.image_rows import describe
    from foundation.settings import get_settings
    from images.manifest import read_manifest
    from images.progress import show_progress

    machine_id = find_machine(machine)[0].machine_id
    with show_progress(name, console_err()) as report:
        saved = save_machine(machine_id, name, get_settings(), report)
    if json:
        row = describe(saved.image.path, read_manifest(saved.image.path))
        phases = {phase: round(seconds, 3) for phase, seconds in saved.seconds.items()}
        print_json(row | {"machine": machine_id, "parent": saved.parent, "phases": phases})
        return
    phases_text = ", ".join(f"{phase} {value:.0f} s" for phase, value in saved.seconds.items())
    say(f"{saved.image.label} is ready, hand-made ({phases_text}).")
    say(f"How it differs from {saved.parent}: `mesocosm image diff {name}`.")
