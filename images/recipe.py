"""The protocol of recipes, and what they return to the builder.

There are two kinds of images, with one protocol for both:

* *file images*: `Recipe.build` writes files into its work folder, which becomes
  ``<images_dir>/<name>/<recipe digest>/``;
* *docker images*: `Recipe.build` leaves an image in the engine and returns its ID; the builder
  tags it ``mesocosm/<name>:<first 12 digits of its ID>``. Most of them are a folder
  with a Dockerfile: `images.dockerfile.DockerRecipe`. It may also write files, which its containers
  are started with.

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
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from foundation.files import digest_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

REPOSITORY_PREFIX = "mesocosm"
TAG_DIGITS = 12


class Report(Protocol):
    """Receiver of a build's progress; safe to call from any thread."""

    def __call__(self, phase: str, fraction: float | None = None, line: str = "") -> None:
        """Report one step of progress.

        Args:
            phase: short name of the current phase, such as ``packages``.
            fraction: completed fraction of the phase, 0 to 1, or None if unknown.
            line: one line of a tool's output, for the log of the build.
        """
        ...


@dataclass(frozen=True, slots=True)
class Image:
    """An image that exists, is verified, and may be used.

    Attributes:
        name: name of its recipe, such as ``desktop``.
        variant: such as ``debian-12``.
        digest: SHA-256 of its content: the docker image's ID, or the digest over its files.
        recipe_digest: SHA-256 of the recipe's inputs; the cache key.
        path: folder with `manifest.json` and, for file images, the files.
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
    """What a build returns in addition to the files in its work folder.

    Attributes:
        docker_id: ID of the docker image (``sha256:...``); None for file images.
        packages: version of each distribution package inside, by name.
        notes: facts worth keeping, such as how the distribution was chosen.
    """

    docker_id: str | None = None
    packages: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)


class Recipe(Protocol):
    """The instructions for building one image."""

    @property
    def name(self) -> str:
        """Lowercase name, unique in `images.catalog`."""
        ...

    @property
    def variant(self) -> str:
        """The name that distinguishes images of one recipe, such as ``debian-12``."""
        ...

    @property
    def needs(self) -> tuple[str, ...]:
        """Names of the recipes whose images must exist first."""
        ...

    def inputs(self) -> Mapping[str, object]:
        """Return JSON data that determines the content: file digests and parameters.

        The builder adds name, variant and the digests of the base images; the digest of all this is
        the recipe digest. Must be quick and use no network: it is called each time an image is
        requested.
        """
        ...

    def build(self, workdir: Path, report: Report, needed: Mapping[str, Image]) -> Product:
        """Build the image.

        Args:
            workdir: an empty folder on the images' file system; it is removed if this raises. Its
                content at the end belongs to the image.
            report: receives progress.
            needed: the images named by `needs`, and by a `ToolRecipe`'s `tools`, which are built
                when they are first accessed.

        Raises:
            MesocosmError: any subclass; the builder converts a tool's failure to ImageBuildError.
        """
        ...


@runtime_checkable
class DemandingRecipe(Protocol):
    """A recipe whose image needs more than every appliance has."""

    def require(self) -> None:
        """Check that this host can build and run the image, before anything is fetched.

        Raises:
            RequirementError: it cannot.
        """
        ...


@runtime_checkable
class ToolRecipe(Protocol):
    """A recipe whose build runs programs of other images, which do not determine its content."""

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of these images' recipes; they are no part of the recipe digest."""
        ...


def input_digests(recipe: Recipe) -> dict[str, str]:
    """Return a digest of each input of a recipe; entries of tables are digested separately."""
    digests: dict[str, str] = {}
    for key, value in recipe.inputs().items():
        if isinstance(value, dict):
            digests |= {f"{key}/{part}": digest_json(content) for part, content in value.items()}
        else:
            digests[key] = digest_json(value)
    return digests


def docker_tag(name: str, docker_id: str, owner: str = "") -> str:
    """Return the tag of a docker image, such as ``mesocosm/phone:1f0c2a9b44de``.

    It contains the image's ID, so that two state folders that share a docker engine and build the
    same recipe do not remove each other's tag, even when one of them is purged.

    Args:
        name: name of the recipe.
        docker_id: ID of the image.
        owner: identifies the appliance among others on the host; see `Settings.owner`.
    """
    digits = docker_id.removeprefix("sha256:")[:TAG_DIGITS]
    return f"{REPOSITORY_PREFIX}/{name}:{digits}" + (f"-{owner}" if owner else "")


def is_own_tag(tag: str, owner: str) -> bool:
    """Return whether a tag from `docker_tag` belongs to an appliance.

    The manifest of an image copied from another state folder contains that folder's tag.

    Args:
        tag: tag of a docker image.
        owner: owner of the appliance; see `Settings.owner`.
    """
    return tag.rpartition(":")[2].partition("-")[2] == owner
