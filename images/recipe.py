"""What the builder asks of a recipe, and what a recipe gives back.

Two sorts of images exist, with one protocol for both:

* *file images*: `Recipe.build` writes files into its work folder, which becomes
  ``<images_dir>/<name>/<recipe digest>/``;
* *docker images*: `Recipe.build` leaves an image in the engine and names its id; the builder
  tags it ``mesocosm/<name>:<first 12 digits of its id>``. Most of them are a folder
  with a Dockerfile: `images.dockerfile.DockerRecipe`.

Example::

    class DesktopRecipe:
        name = "desktop"
        needs = ()

        def __init__(self, settings: Settings, variant: str) -> None: ...
        def inputs(self) -> dict[str, object]:
            return {"files": digest_tree(HERE), "packages": PACKAGES}
        def build(self, workdir, report, needed):
            report("packages", 0.1, "Unpacking libc6 ...")
            (workdir / "disk.qcow2").write_bytes(...)
            return Product(packages=read_packages(...))
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from appliance.base.files import digest_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

REPOSITORY_PREFIX = "mesocosm"
TAG_DIGITS = 12


class Report(Protocol):
    """How a build tells where it is; safe to call from any thread."""

    def __call__(self, phase: str, fraction: float | None = None, line: str = "") -> None:
        """Take one step of progress.

        Args:
            phase: short name of what is being done, such as ``packages``.
            fraction: how much of the phase is done, 0 to 1, or None when unknown.
            line: one line of a tool's output; it goes into the log of the build.
        """
        ...


@dataclass(frozen=True, slots=True)
class Image:
    """An image that is there, checked, and may be used.

    Attributes:
        name: of its recipe, such as ``desktop``.
        variant: such as ``debian-12``.
        digest: SHA-256 of its content: the docker image's id, or the digest over its files.
        recipe_digest: SHA-256 of what went into it; the key of the cache.
        path: folder that holds `manifest.json` and, for file images, the files.
        tag: the docker tag; None for file images.
    """

    name: str
    variant: str
    digest: str
    recipe_digest: str
    path: Path
    tag: str | None = None

    @property
    def label(self) -> str:
        """Name and variant as results show them, such as ``desktop:debian-12``."""
        return f"{self.name}:{self.variant}"

    def file(self, name: str) -> Path:
        """Return the path of one file of a file image."""
        return self.path / name


@dataclass(frozen=True, slots=True)
class Product:
    """What a build gives back beside the files in its work folder.

    Attributes:
        docker_id: id of the docker image (``sha256:...``); None for file images.
        packages: version of each distribution package inside, by name.
        notes: facts worth keeping, such as how the distribution was chosen.
    """

    docker_id: str | None = None
    packages: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)


class Recipe(Protocol):
    """How one image is made."""

    @property
    def name(self) -> str:
        """Lower-case name, unique in `images.catalog`."""
        ...

    @property
    def variant(self) -> str:
        """What tells apart images of one recipe, such as ``debian-12``."""
        ...

    @property
    def needs(self) -> tuple[str, ...]:
        """Names of the recipes whose images must be there first."""
        ...

    def inputs(self) -> Mapping[str, object]:
        """Give plain JSON data that determines the content: file digests and parameters.

        The builder adds name, variant and the digests of the needed images; the whole's digest is
        the recipe digest. Quick, no network: called each time an image is asked for.
        """
        ...

    def build(self, workdir: Path, report: Report, needed: Mapping[str, Image]) -> Product:
        """Make the image.

        Args:
            workdir: an empty folder on the images' file system; it is removed when this raises.
                All that is in it at the end belongs to the image.
            report: told about progress.
            needed: the images named by `needs`.

        Raises:
            MesocosmError: any of them; the builder turns a tool's failure into ImageBuildError.
        """
        ...


def input_digests(recipe: Recipe) -> dict[str, str]:
    """Return a digest of each input of a recipe; those that are tables are taken apart."""
    digests: dict[str, str] = {}
    for key, value in recipe.inputs().items():
        if isinstance(value, dict):
            digests |= {f"{key}/{part}": digest_json(content) for part, content in value.items()}
        else:
            digests[key] = digest_json(value)
    return digests


def docker_tag(name: str, docker_id: str, owner: str = "") -> str:
    """Return the tag of a docker image, such as ``mesocosm/phone:1f0c2a9b44de``.

    It follows the image's id, so that two state folders that share one docker engine, and built
    the same recipe twice, do not take each other's tag away; nor does one that is purged.

    Args:
        name: of the recipe.
        docker_id: of the image.
        owner: tells the appliance from others of the host; see `Settings.owner`.
    """
    digits = docker_id.removeprefix("sha256:")[:TAG_DIGITS]
    return f"{REPOSITORY_PREFIX}/{name}:{digits}" + (f"-{owner}" if owner else "")


def is_own_tag(tag: str, owner: str) -> bool:
    """Return whether a tag of `docker_tag` is an appliance's own.

    A manifest that came with images copied from another state folder names that one's tag.

    Args:
        tag: of a docker image.
        owner: of the appliance; see `Settings.owner`.
    """
    return tag.rpartition(":")[2].partition("-")[2] == owner
