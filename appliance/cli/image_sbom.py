"""``mesocosm image sbom``: the bill of materials of an image."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - read by typer
from typing import Annotated

import typer

from appliance.cli.output import print_json, say


def _built() -> list[str]:
    from foundation.settings import get_settings
    from images.manifest import Manifest
    from images.store import iter_manifests

    manifests = [manifest for _, manifest in iter_manifests(get_settings().images_dir)]
    return sorted({entry.name for entry in manifests if isinstance(entry, Manifest)})


def sbom(
    name: Annotated[
        str,
        typer.Argument(
            help="A built image, such as `desktop` or `desktop:debian-12`.", autocompletion=_built
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write instead of standard output."),
    ] = None,
) -> None:
    """Print what a built image consists of: packages and files, as CycloneDX 1.5 JSON."""
    import json

    from foundation.files import write_atomic
    from foundation.settings import get_settings
    from images.builder import find
    from images.manifest import read_manifest
    from images.sbom import bill_of_materials

    document = bill_of_materials(read_manifest(find(name, get_settings()).path))
    if output is None:
        print_json(document)
        return
    write_atomic(output, json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    say(f"{output}: {len(document['components'])} components")
