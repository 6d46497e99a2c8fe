"""Remove unused images that the current recipes would not produce."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from appliance.bringup.image_users import find_users
from foundation.errors import MesocosmError
from foundation.files import FileLock
from images.builder import Builder, list_manifests
from images.catalog import NAMES, ON_REQUEST, has_variants
from images.engine import connect
from images.manifest import Manifest
from images.recipe import REPOSITORY_PREFIX, is_own_tag
from images.store import LEFTOVER, lock_path, remove_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from docker import DockerClient

    from foundation.settings import Settings
    from images.builder import MakeRecipe

_ORDER = (*ON_REQUEST, *reversed(NAMES))
"""Names of images; those built on others are removed first."""


@dataclass(frozen=True, slots=True)
class OldImage:
    """An image that is not current.

    Attributes:
        name: of its recipe.
        variant: such as ``debian-12``.
        digest: of the image, in hex; empty for a leftover of a killed build.
        size_bytes: on disk; an upper bound for a docker image, which shares layers with others.
        folder: of its manifest and files; None for a docker image without them.
        manifest: None for a leftover of a killed build and for a docker image without one.
        docker_tag: None if it is not a docker image, or if other images use the tag too.
        kept: why it is kept; empty if it is to be removed.
    """

    name: str
    variant: str
    digest: str
    size_bytes: int
    folder: Path | None = None
    manifest: Manifest | None = None
    docker_tag: str | None = None
    kept: str = ""

    @property
    def label(self) -> str:
        """Name, variant and the first digits of the digest."""
        return f"{self.name}:{self.variant} {self.digest[:12]}".rstrip()

    def to_dict(self) -> dict[str, object]:
        """Return the row as JSON."""
        return {
            "name": self.name,
            "variant": self.variant,
            "digest": self.digest,
            "size_bytes": self.size_bytes,
            "path": str(self.folder) if self.folder else None,
            "docker_tag": self.docker_tag,
            "kept": self.kept,
        }


@dataclass
class Pruner:
    """Old images of one appliance. Use it as a context manager.

    Args:
        settings: of the appliance.
        names: only images with these names; all by default.
        untracked: also docker images with the appliance's names that no manifest here lists: of
            state folders that are gone, or of others that share the docker engine.
        make: returns the recipe of a name.
    """

    settings: Settings
    names: Sequence[str] = ()
    untracked: bool = False
    make: MakeRecipe | None = None
    _stack: ExitStack = field(default_factory=ExitStack, init=False)
    _client: DockerClient | None = field(default=None, init=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self._stack.close()

    def find(self) -> list[OldImage]:
        """Return all images that are not current, with reasons for those to keep.

        Raises:
            RequirementError: the docker engine does not answer, and there are docker images.
        """
        built = [row for row in list_manifests(self.settings) if self._is_asked(row[0])]
        whole = [(path, manifest) for path, manifest in built if isinstance(manifest, Manifest)]
        if self.untracked or any(manifest.docker_tag for _, manifest in whole):
            self._client = self._client or self._stack.enter_context(connect())
        current = self._current(whole)
        users = find_users(self.settings, self._client)
        tags = self._own_tags(whole) - {
            manifest.docker_tag for path, manifest in whole if path in current
        }
        old_images = [
            OldImage(
                name=manifest.name,
                variant=manifest.variant,
                digest=manifest.image_digest,
                size_bytes=_disk_bytes(path) + self._docker_bytes(manifest.docker_tag, tags),
                folder=path,
                manifest=manifest,
                docker_tag=manifest.docker_tag if manifest.docker_tag in tags else None,
                kept=users.of(path, manifest),
            )
            for path, manifest in whole
            if path not in current
        ]
        old_images += self._leftovers()
        if self.untracked:
            old_images += self._strangers(
                {manifest.docker_tag for _, manifest in whole}, users.by_docker_id
            )
        return sorted(old_images, key=lambda image: (_ORDER.index(image.name), image.label))

    def remove(self, images: Sequence[OldImage], say: Callable[[str], None]) -> list[OldImage]:
        """Remove images of `find` that are still unused.

        Each image is removed completely, the docker image before its manifest, so that an
        interrupted prune can be repeated.

        Args:
            images: to remove, except those with `kept`.
            say: called with one line per removed image.

        Returns:
            The same images; `kept` is set on those that could not be removed.
        """
        return [image if image.kept else self._remove(image, say) for image in images]

    def _remove(self, image: OldImage, say: Callable[[str], None]) -> OldImage:
        lock = FileLock(lock_path(self.settings.images_dir, image.name))
        if not lock.try_acquire():
            return replace(image, kept="another process is building that image")
        try:
            if image.folder and image.manifest:
                users = find_users(self.settings, self._client)
                if who := users.of(image.folder, image.manifest):
                    return replace(image, kept=who)
            if image.docker_tag and (why := self._untag(image.docker_tag)):
                return replace(image, kept=why)
            if image.folder and image.folder.exists():
                _remove_folder(image.folder)
        finally:
            lock.release()
        say(f"removed {image.label}")
        return image

    def _untag(self, tag: str) -> str:
        """Remove a docker image by tag; return why it could not be removed, or an empty string."""
        from docker.errors import APIError, ImageNotFound  # noqa: PLC0415

        assert self._client is not None  # noqa: S101 - find() connected
        try:
            self._client.images.remove(tag)
        except ImageNotFound:
            return ""
        except APIError as exc:
            return str(exc.explanation or exc)
        return ""

    def _is_asked(self, folder: Path) -> bool:
        name = folder.parent.name
        return name in _ORDER and (not self.names or name in self.names)

    def _current(self, whole: Sequence[tuple[Path, Manifest]]) -> set[Path]:
        """Return the folders of current images.

        If that cannot be determined, as an image's base is not built, its newest build is current.
        """
        folders = set()
        for name, variant in {(manifest.name, manifest.variant) for _, manifest in whole}:
            rows = [
                (path, manifest)
                for path, manifest in whole
                if (manifest.name, manifest.variant) == (name, variant)
            ]
            try:
                digest = self._wanted(name, variant)
            except MesocosmError:
                folders.add(max(rows, key=lambda row: row[1].built_at)[0])
            else:
                folders |= {path for path, manifest in rows if manifest.recipe_digest == digest}
        return folders

    def _wanted(self, name: str, variant: str) -> str:
        """Return the digest of the current recipe of an image's variant."""
        settings = self.settings
        builder = Builder(settings, self.make) if self.make else Builder(settings)
        return builder.recipe_digest(f"{name}:{variant}" if has_variants(name, settings) else name)

    def _own_tags(self, whole: Sequence[tuple[Path, Manifest]]) -> set[str]:
        """Return the tags that manifests name, except those of other state folders' images."""
        tags = {manifest.docker_tag for _, manifest in whole if manifest.docker_tag}
        return {tag for tag in tags if is_own_tag(tag, self.settings.owner)}

    def _docker_bytes(self, tag: str | None, tags: set[str]) -> int:
        from docker.errors import ImageNotFound  # noqa: PLC0415

        if tag not in tags or self._client is None:
            return 0
        try:
            return int(self._client.images.get(tag).attrs["Size"])
        except ImageNotFound:
            return 0

    def _leftovers(self) -> Iterator[OldImage]:
        """Yield leftovers of killed builds and of interrupted prunes."""
        for folder in sorted(self.settings.images_dir.glob(f"*/{LEFTOVER}*")):
            if self._is_asked(folder):
                yield OldImage(folder.parent.name, "left over", "", _disk_bytes(folder), folder)

    def _strangers(self, known: set[str | None], users: dict[str, str]) -> Iterator[OldImage]:
        assert self._client is not None  # noqa: S101 - find() connected
        for image in self._client.images.list():
            for tag in image.tags:
                prefix, _, rest = str(tag).partition("/")
                name, _, digits = rest.partition(":")
                asked = name in _ORDER and (not self.names or name in self.names)
                if prefix == REPOSITORY_PREFIX and asked and tag not in known:
                    size_bytes = int(image.attrs["Size"])
                    who = users.get(str(image.id), "")
                    yield OldImage(name, "untracked", digits, size_bytes, docker_tag=tag, kept=who)


def _remove_folder(folder: Path) -> None:
    """Rename a folder to a leftover, then remove it, so that a later prune can finish the removal."""
    if folder.name.startswith(LEFTOVER):
        remove_folder(folder)
        return
    leftover = Path(tempfile.mkdtemp(prefix=LEFTOVER, dir=folder.parent))
    folder.rename(leftover / "old")
    remove_folder(leftover)


def _disk_bytes(folder: Path) -> int:
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*"))
