"""Build the disk of a custom image: its parent's tree, its layers, ext4, qcow2."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from foundation.files import digest_tree
from foundation.process import run
from images.custom.archive import PackageArchive
from images.custom.layers import LayerStore, tree_key
from images.custom.product import ImageProduct, product_path
from images.custom.provision import layers_of
from images.custom.tree import unpack_tree
from images.desktop.recipe import DISK, DISK_SIZE_GIB, HOST_KEY, INITRD, KERNEL
from images.distribution import get_distribution
from images.hypervisor.tools import HYPERVISOR, hypervisor_tools
from images.manifest import read_manifest
from images.recipe import Product

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from foundation.settings import Settings
    from images.custom.folder import ImageFolder
    from images.recipe import Image, Report

DESKTOP = "desktop"
TESTS = "tests"
"""Folder of the specifications, in the image's folder."""
_FORMAT = 2
"""Changes when images of equal inputs differ: how trees become disks."""
_TOOL_TIMEOUT_S = 900.0
_EXT4_FEATURES = "^has_journal,^metadata_csum"


class CustomDesktopRecipe:
    """Recipe of a custom image; its products are those of a shipped desktop, and a few more.

    Args:
        settings: locate archives.
        folder: folder of the image.
        parent: variant of the desktop image that it extends.
    """

    name = DESKTOP
    tools: tuple[str, ...] = (HYPERVISOR,)

    def __init__(self, settings: Settings, folder: ImageFolder, parent: str) -> None:
        self._settings = settings
        self._folder = folder
        self._parent = f"{DESKTOP}:{parent}"

    @property
    def variant(self) -> str:
        """The image's name."""
        return self._folder.content.name

    @property
    def needs(self) -> tuple[str, ...]:
        """Label of its parent."""
        return (self._parent,)

    def inputs(self) -> Mapping[str, object]:
        """Return the digest of the last layer and of what is beside the tree."""
        content = self._folder.content
        return {
            "format": _FORMAT,
            "layers": self._keys("parent")[-1],
            "machine": content.machine.model_dump(exclude_none=True),
            "session": content.session.model_dump(mode="json"),
            "tests": {path.name: digest_tree(path) for path in self._folder.tests},
        }

    def layer_keys(self, parent: Image) -> list[str]:
        """Return the keys of its layers on a parent, that of the parent's tree first."""
        return self._keys(ImageProduct.of(parent).layer or tree_key(parent.digest))

    def _keys(self, tree: str) -> list[str]:
        """Return the key of the parent's tree, and of each layer on it."""
        keys = [tree]
        for layer in layers_of(self._folder.path, self._folder.content):
            keys.append(layer.key(keys[-1]))
        return keys

    def build(self, workdir: Path, report: Report, needed: Mapping[str, Image]) -> Product:
        """Build the layers that are missing, and the disk."""
        parent = needed[self._parent]
        inherited = ImageProduct.of(parent)
        notes = read_manifest(parent.path).notes
        distribution = get_distribution(notes["distribution"])
        store = LayerStore(self._settings.owner, self.variant, report)
        if count := store.remove_leftovers():
            report("", None, f"Removed the leftovers of {count} killed builds.")
        keys = self.layer_keys(parent)
        tree = keys[0]
        if not all(map(store.has, keys[-1:])):
            self._ensure_tree(store, parent, tree, workdir, needed[HYPERVISOR], report)
            self._build_layers(store, keys, workdir, distribution.name, report)
        own = ImageProduct.inherit(inherited, self._folder.content, keys[-1], self.variant)
        packages = self._make_disk(store, own, workdir, needed[HYPERVISOR], report)
        for name in (KERNEL, INITRD, HOST_KEY, f"{HOST_KEY}.pub"):
            shutil.copy2(parent.file(name), workdir / name)
        (workdir / TESTS).mkdir()
        for test in self._folder.tests:
            shutil.copy(test, workdir / TESTS / test.name)
        product_path(workdir).write_text(own.model_dump_json(indent=1) + "\n")
        kept = {key: note for key, note in notes.items() if not key.startswith("custom")}
        chain = " → ".join((*own.lineage, distribution.name))
        return Product(packages=packages, notes={**kept, "custom": chain})

    def _ensure_tree(  # noqa: PLR0917  # one call
        self,
        store: LayerStore,
        parent: Image,
        tree: str,
        workdir: Path,
        hypervisor: Image,
        report: Report,
    ) -> None:
        """Make the parent's tree a layer, unless it is one."""
        if store.has(tree):
            return
        raw, root = workdir / "parent.raw", workdir / "parent"
        report("tree", None, "converting the parent's disk")
        disk = parent.file(DISK)
        convert = ("qemu-img", "convert", "-f", "qcow2", "-O", "raw", str(disk), str(raw))
        with hypervisor_tools(hypervisor, workdir, reads=[parent.path]) as tools:
            tools.run(*convert, timeout_s=_TOOL_TIMEOUT_S)
        unpack_tree(raw, root, report)
        raw.unlink()
        store.import_tree(root, tree, workdir)

    def _build_layers(
        self, store: LayerStore, keys: list[str], workdir: Path, distribution: str, report: Report
    ) -> None:
        archive = PackageArchive(get_distribution(distribution), self._settings, report)
        layers = layers_of(self._folder.path, self._folder.content)
        for number, (layer, parent, key) in enumerate(
            zip(layers, keys[:-1], keys[1:], strict=True)
        ):
            phase = f"step {number + 1}/{len(layers)}"
            if store.has(key):
                report(phase, (number + 1) / len(layers), f"{layer.label}: as before")
                continue
            report(phase, number / len(layers), layer.label)
            store.build(layer, parent, key, workdir, archive)

    def _make_disk(
        self,
        store: LayerStore,
        own: ImageProduct,
        workdir: Path,
        hypervisor: Image,
        report: Report,
    ) -> dict[str, str]:
        """Write the tree of the last layer to a disk; return its packages by name."""
        root, raw = workdir / "root", workdir / "disk.raw"
        report("disk", None, "reading the last layer")
        packages = store.export(own.layer, root)
        report("disk", None, "writing the root file system")
        with raw.open("wb") as disk:
            disk.truncate((own.machine.disk_gib or DISK_SIZE_GIB) << 30)
        argv = ["mke2fs", "-q", "-t", "ext4", "-O", _EXT4_FEATURES, "-L", "desktop"]
        run([*argv, "-d", str(root), str(raw)], timeout_s=_TOOL_TIMEOUT_S).require()
        shutil.rmtree(root)
        report("disk", None, "converting the disk to qcow2")
        convert = ("qemu-img", "convert", "-f", "raw", "-O", "qcow2", str(raw), str(workdir / DISK))
        with hypervisor_tools(hypervisor, workdir) as tools:
            tools.run(*convert, timeout_s=_TOOL_TIMEOUT_S)
        raw.unlink()
        return packages
