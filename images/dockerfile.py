"""Docker images built from a folder with a Dockerfile."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from foundation.files import digest_tree
from images.engine import build_context, build_dockerfile, connect, read_packages
from images.recipe import Product

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from images.recipe import Image, Report


@dataclass(frozen=True)
class DockerRecipe:
    """A Dockerfile, the files it copies, and its build arguments.

    The Dockerfile begins with ``ARG BASE`` and ``FROM ${BASE}``: `BASE` is the tag of the image
    that `base` names. The build uses the host's network. Two files are always in the context
    and must not reach the final stage: ``.host/ca-certificates.crt`` (the authorities the host
    trusts) and ``.host/pip.conf`` (the host's settings for its package index).

    Attributes:
        name: lowercase name.
        variant: such as ``debian-12``.
        files: the build context: files or folders on the host by their path in the context; must
            contain ``Dockerfile``.
        args: build arguments; no secrets, because they stay readable in the image.
        base: name of the recipe whose image is the build argument ``BASE``.
    """

    name: str
    variant: str
    files: Mapping[str, Path]
    args: Mapping[str, str] = field(default_factory=dict)
    base: str = "base"

    @property
    def needs(self) -> tuple[str, ...]:
        """The base image."""
        return (self.base,)

    def inputs(self) -> Mapping[str, object]:
        """Return the digests of the files, and the arguments."""
        files = {name: digest_tree(path) for name, path in self.files.items()}
        return {"files": files, "args": dict(self.args)}

    def build(self, workdir: Path, report: Report, needed: Mapping[str, Image]) -> Product:
        """Build the image with the docker engine and read its package versions."""
        context = workdir / "context.tar"
        build_context(self.files, context)
        args = {"BASE": needed[self.base].tag or "", **self.args}
        try:
            with connect() as client:
                built = build_dockerfile(client, context, args, report)
                report("packages", None, "reading package versions")
                packages = read_packages(client, built)
        finally:
            context.unlink()
        return Product(docker_id=built, packages=packages)
