"""Build missing images once, and return only complete images."""

from __future__ import annotations

import errno
import importlib.metadata
import logging
import shutil
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from foundation.clock import SYSTEM_CLOCK
from foundation.errors import (
    ImageBuildError,
    ImageCorruptError,
    ImageMissingError,
    MesocosmError,
    RequirementError,
    ToolError,
    ToolMissingError,
)
from foundation.files import FileLock, digest_json
from foundation.process import bound_to_thread
from images.build_logs import log_path
from images.catalog import has_variants, make_recipe, split_label
from images.engine import connect, find_image
from images.log import BuildLog, ignore_progress
from images.manifest import FORMAT, MANIFEST, Manifest, describe_files, digest_files, read_manifest
from images.recipe import ToolRecipe, docker_tag, input_digests
from images.store import (
    as_image,
    check_files,
    commit,
    has_leftovers,
    image_folder,
    iter_manifests,
    lock_path,
    make_workdir,
    remove_folder,
    remove_leftovers,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from foundation.clock import Clock
    from foundation.settings import Settings
    from images.manifest import FileEntry
    from images.recipe import Image, Product, Recipe, Report

    MakeRecipe = Callable[[str, Settings], Recipe]

_log = logging.getLogger(__name__)

_NO_SPACE = "no space left on device"


@dataclass(frozen=True)
class Builder:
    """The images of one appliance.

    Methods take the name of an image, or a label with a variant, such as ``desktop:debian-12``; base
    images are then of that variant, too.

    Attributes:
        settings: locate the image store.
        make: returns the recipe of a name.
        clock: measures the duration of builds.
    """

    settings: Settings
    make: MakeRecipe = make_recipe
    clock: Clock = SYSTEM_CLOCK

    def of_label(self, label: str) -> tuple[Builder, str]:
        """Return the builder that builds the variant of a label by default, and the label's name.

        Raises:
            UnknownNameError: there is no such variant.
        """
        name, settings = split_label(label, self.settings)
        return replace(self, settings=settings), name

    def find(self, name: str) -> Image:
        """Return an image that is already built.

        Raises:
            UnknownNameError: there is no recipe of that name.
            ImageMissingError: it is not built, or its recipe has changed since.
            ImageCorruptError: it differs from its manifest.
        """
        if ":" in name:
            own, name = self.of_label(name)
            return own.find(name)
        recipe = self.make(name, self.settings)
        needed = {other: self.find(other) for other in recipe.needs}
        image = self._find_built(recipe, _recipe_digest(recipe, needed))
        if image is None:
            raise ImageMissingError(
                f"The image {name}:{recipe.variant} is not built.",
                details=f"{self.settings.images_dir / name} has no image of this recipe.",
                resolution=f"Run `mesocosm image build {self._label(recipe)}`.",
            )
        return image

    def _label(self, recipe: Recipe) -> str:
        """Return what names an image on the command line, whatever settings choose."""
        if has_variants(recipe.name, self.settings):
            return f"{recipe.name}:{recipe.variant}"
        return recipe.name

    def recipe_digest(self, name: str) -> str:
        """Return the current recipe digest of an image, whether or not it is built.

        Raises:
            UnknownNameError: there is no recipe of that name.
            ImageError: its base image is not built, or corrupt.
        """
        if ":" in name:
            own, name = self.of_label(name)
            return own.recipe_digest(name)
        recipe = self.make(name, self.settings)
        return _recipe_digest(recipe, {other: self.find(other) for other in recipe.needs})

    def ensure(
        self,
        name: str,
        report: Report = ignore_progress,
        *,
        repair: bool = False,
        rebuild: bool = False,
    ) -> Image:
        """Return an image, after building it and its base images if they are missing.

        Args:
            name: name of the recipe.
            report: receives progress, including that of base images.
            repair: rebuild a corrupt image instead of raising.
            rebuild: rebuild the image (not its base images) even if it exists.

        Raises:
            UnknownNameError: there is no recipe of that name.
            ImageCorruptError: it differs from its manifest.
            ImageBuildError: the build failed; nothing incomplete is left.
            RequirementError: the host lacks something that the build needs.
        """
        if ":" in name:
            own, name = self.of_label(name)
            return own.ensure(name, report, repair=repair, rebuild=rebuild)
        recipe = self.make(name, self.settings)
        needed = {other: self.ensure(other, report, repair=repair) for other in recipe.needs}
        digest = _recipe_digest(recipe, needed)
        self._sweep(name)
        if not rebuild and (image := self._find_built(recipe, digest, repair=repair)):
            return image
        with self._sole_builder(recipe, report):
            if not rebuild and (image := self._find_built(recipe, digest, repair=repair)):
                return image
            return self._build(recipe, needed, digest, report)

    def _find_built(self, recipe: Recipe, digest: str, *, repair: bool = False) -> Image | None:
        """Return the image of a recipe digest if it exists and is intact."""
        folder = image_folder(self.settings.images_dir, recipe.name, digest)
        if not (folder / MANIFEST).is_file():
            return None
        try:
            manifest = read_manifest(folder)
            check_image(folder, manifest, thorough=False)
        except ImageMissingError:
            return None
        except ImageCorruptError:
            if repair:
                return None
            raise
        return as_image(manifest, folder)

    def _sweep(self, name: str) -> None:
        """Remove leftovers of killed builds of a name, unless a build is running."""
        if not has_leftovers(self.settings.images_dir, name):
            return
        lock = FileLock(lock_path(self.settings.images_dir, name))
        if lock.try_acquire():
            try:
                remove_leftovers(self.settings.images_dir, name)
            finally:
                lock.release()

    @contextmanager
    def _sole_builder(self, recipe: Recipe, report: Report) -> Iterator[None]:
        """Hold the lock of a name, after removing leftovers from its folder."""
        self._make_folder(recipe.name)
        lock = FileLock(lock_path(self.settings.images_dir, recipe.name))
        if not lock.try_acquire():
            report("waiting", None, f"Another process is building {recipe.name}; waiting for it.")
            lock.acquire()
        try:
            if count := remove_leftovers(self.settings.images_dir, recipe.name):
                report("", None, f"Removed the leftovers of {count} killed builds.")
            yield
        finally:
            lock.release()

    def _build(
        self, recipe: Recipe, needed: Mapping[str, Image], digest: str, report: Report
    ) -> Image:
        _log.info("building the image %s", recipe.name)
        started = datetime.fromtimestamp(self.clock.now_s(), tz=UTC)
        start_s = self.clock.monotonic_s()
        label = f"{recipe.name}-{recipe.variant}"
        log = BuildLog(
            log_path(self.settings.images_dir, label, digest, started.timestamp()), report
        )
        workdir = make_workdir(self.settings.images_dir, recipe.name)
        try:
            with log, _clear_errors(recipe, workdir, log.path):
                with bound_to_thread():
                    product = recipe.build(workdir, log, _Needed(self, recipe, needed, log))
                log("digest", None, "computing digests")
                seconds = round(self.clock.monotonic_s() - start_s, 3)
                manifest = _describe(recipe, needed, digest, workdir, product).model_copy(
                    update={
                        "built_at": started.isoformat(),
                        "seconds": seconds,
                        "docker_tag": self._tag_of(recipe.name, product),
                    }
                )
                _tag(manifest)
                folder = commit(self.settings.images_dir, workdir, manifest)
                log("done", 1.0, f"{recipe.name}:{recipe.variant} built in {seconds:.1f} s")
        finally:
            if workdir.exists():
                remove_folder(workdir)
        return as_image(manifest, folder)

    def _tag_of(self, name: str, product: Product) -> str | None:
        if product.docker_id is None:
            return None
        return docker_tag(name, product.docker_id, self.settings.owner)

    def _make_folder(self, name: str) -> None:
        try:
            (self.settings.images_dir / name).mkdir(parents=True, exist_ok=True)
        except OSError as exc:
            raise ImageBuildError(
                f"Cannot write images to {self.settings.images_dir}.",
                details=str(exc),
                resolution="Run as root, or set MESOCOSM_STATE_DIR to a writable folder.",
            ) from exc


class _Needed(dict[str, "Image"]):
    """Images that a build needs; those of its tools are built in parallel, or else on access."""

    def __init__(
        self, builder: Builder, recipe: Recipe, needed: Mapping[str, Image], report: Report
    ) -> None:
        super().__init__(needed)
        self._builder = builder
        self._tools = recipe.tools if isinstance(recipe, ToolRecipe) else ()
        self._report = report

    def __missing__(self, name: str) -> Image:
        if name not in self._tools:
            raise KeyError(name)
        self[name] = self._builder.ensure(name, self._report, repair=True)
        return self[name]


def ensure(
    name: str,
    settings: Settings,
    report: Report = ignore_progress,
    *,
    repair: bool = False,
    rebuild: bool = False,
) -> Image:
    """Return an image, after building it if it is missing; see `Builder.ensure`."""
    return Builder(settings).ensure(name, report, repair=repair, rebuild=rebuild)


def find(name: str, settings: Settings) -> Image:
    """Return an image that is already built; see `Builder.find`."""
    return Builder(settings).find(name)


def check_image(folder: Path, manifest: Manifest, *, thorough: bool) -> None:
    """Compare an image with its manifest, and restore a lost docker tag.

    Raises:
        ImageMissingError: the docker engine lost the image.
        ImageCorruptError: the content differs.
    """
    check_files(folder, manifest, thorough=thorough)
    if manifest.docker_tag is None or manifest.docker_id is None:
        return
    with connect() as client:
        docker_id = find_image(client, manifest.docker_tag)
        if docker_id is None and find_image(client, manifest.docker_id):
            client.images.get(manifest.docker_id).tag(manifest.docker_tag)
            return
    if docker_id is None:
        raise ImageMissingError(
            f"The docker engine no longer has {manifest.docker_tag}.",
            details="It was removed from the engine after the build.",
            resolution=f"Run `mesocosm image build {manifest.name}`.",
        )
    if docker_id != manifest.docker_id:
        raise ImageCorruptError(
            f"The image {manifest.docker_tag} was replaced after the build.",
            details=f"Its ID is {docker_id}, expected {manifest.docker_id}.",
            resolution=f"Run `mesocosm image build {manifest.name}` to rebuild it.",
        )


def list_manifests(settings: Settings) -> list[tuple[Path, Manifest | MesocosmError]]:
    """Return all built images with their folders, and broken images with their error."""
    return list(iter_manifests(settings.images_dir))


def _recipe_digest(recipe: Recipe, needed: Mapping[str, Image]) -> str:
    return digest_json(
        {
            "format": FORMAT,
            "name": recipe.name,
            "variant": recipe.variant,
            "inputs": dict(recipe.inputs()),
            "needs": {name: image.digest for name, image in needed.items()},
        }
    )


def _describe(
    recipe: Recipe, needed: Mapping[str, Image], digest: str, workdir: Path, product: Product
) -> Manifest:
    files = describe_files(workdir)
    if product.docker_id is None and not files:
        raise ImageBuildError(f"The recipe {recipe.name} produced nothing.")
    docker_id = product.docker_id
    return Manifest(
        name=recipe.name,
        variant=recipe.variant,
        recipe_digest=digest,
        image_digest=_image_digest(docker_id, files),
        built_at="",
        seconds=0,
        builder=importlib.metadata.version("mesocosm"),
        needs={name: image.digest for name, image in needed.items()},
        inputs=input_digests(recipe),
        docker_id=docker_id,
        files=files,
        packages=dict(product.packages),
        notes=dict(product.notes),
    )


def _image_digest(docker_id: str | None, files: Mapping[str, FileEntry]) -> str:
    """Return the digest of an image's content, which may be a docker image, files, or both."""
    if docker_id is None:
        return digest_files(files)
    if not files:
        return docker_id.removeprefix("sha256:")
    return digest_json({"docker_id": docker_id, "files": digest_files(files)})


def _tag(manifest: Manifest) -> None:
    if manifest.docker_id and manifest.docker_tag:
        with connect() as client:
            client.images.get(manifest.docker_id).tag(manifest.docker_tag)


@contextmanager
def _clear_errors(recipe: Recipe, workdir: Path, log: Path) -> Iterator[None]:
    """Map failures of a build to an error that names image, cause and fix."""
    try:
        yield
    except (ToolMissingError, RequirementError):
        raise
    except (OSError, ToolError, ImageBuildError) as exc:
        details = exc.details or exc.brief if isinstance(exc, MesocosmError) else str(exc)
        full = isinstance(exc, OSError) and exc.errno in {errno.ENOSPC, errno.EDQUOT}
        if full or _NO_SPACE in str(exc).lower():
            free_mib = shutil.disk_usage(workdir.parent).free >> 20
            raise ImageBuildError(
                f"The disk is full: {recipe.name}:{recipe.variant} could not be built.",
                details=f"{workdir.parent} has {free_mib} MiB free.\n{details}",
                resolution="Free some space, or set MESOCOSM_STATE_DIR to a larger disk.",
            ) from exc
        resolution = exc.resolution if isinstance(exc, MesocosmError) else ""
        raise ImageBuildError(
            f"The image {recipe.name}:{recipe.variant} could not be built.",
            details=f"{details}\nFull log: {log}",
            resolution=resolution
            or "See the log; `mesocosm doctor` checks the requirements of builds.",
        ) from exc
