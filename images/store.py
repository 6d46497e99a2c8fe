"""The store of finished images; an image is either complete or absent.

::

    <images_dir>/<name>/<recipe digest>/manifest.json   written last, then the folder is renamed
    <images_dir>/<name>/.build-<random>/                being built; a leftover if the lock is free
    <images_dir>/<name>/.lock                           held by the only builder of that name
    <images_dir>/logs/<name>-<variant>-<digest>-<UTC>.log
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.errors import ImageCorruptError, MesocosmError
from foundation.files import digest_file, write_atomic
from foundation.process import run
from images.manifest import MANIFEST, Manifest, list_files, read_manifest
from images.recipe import Image

if TYPE_CHECKING:
    from collections.abc import Iterator

LEFTOVER = ".build-"
_CHECKED = ".checked"


def image_folder(images_dir: Path, name: str, recipe_digest: str) -> Path:
    """Return the folder of a built image."""
    return images_dir / name / recipe_digest


def lock_path(images_dir: Path, name: str) -> Path:
    """Return the path of the lock of a name's builder."""
    return images_dir / name / ".lock"


def as_image(manifest: Manifest, folder: Path) -> Image:
    """Return the `Image` of a manifest."""
    return Image(
        name=manifest.name,
        variant=manifest.variant,
        digest=manifest.image_digest,
        recipe_digest=manifest.recipe_digest,
        path=folder,
        tag=manifest.docker_tag,
    )


def iter_manifests(images_dir: Path) -> Iterator[tuple[Path, Manifest | MesocosmError]]:
    """Yield each built image's folder with its manifest, or with the manifest's error."""
    for path in sorted(images_dir.glob(f"*/[0-9a-f]*/{MANIFEST}")):
        try:
            yield path.parent, read_manifest(path.parent)
        except MesocosmError as exc:
            yield path.parent, exc


def make_workdir(images_dir: Path, name: str) -> Path:
    """Create an empty folder for a build; the caller must hold the lock of `name`."""
    parent = images_dir / name
    parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=LEFTOVER, dir=parent))
    folder.chmod(0o755)
    return folder


def has_leftovers(images_dir: Path, name: str) -> bool:
    """Return whether there are work folders, of a running build or of killed ones."""
    return any((images_dir / name).glob(f"{LEFTOVER}*"))


def remove_leftovers(images_dir: Path, name: str) -> int:
    """Remove and count leftovers of killed builds of `name`; the caller must hold its lock."""
    leftovers = list((images_dir / name).glob(f"{LEFTOVER}*"))
    for folder in leftovers:
        remove_folder(folder)
    return len(leftovers)


def remove_folder(folder: Path) -> None:
    """Remove a folder, after ending processes and mounts that a killed build left in it."""
    _kill_users(folder)
    mounts = [
        line.split()[4].encode().decode("unicode_escape")
        for line in Path("/proc/self/mountinfo").read_text().splitlines()
    ]
    below = sorted((point for point in mounts if Path(point).is_relative_to(folder)), reverse=True)
    for mount in below:
        run(["umount", "--lazy", mount]).require("Unmount it manually and try again.")
    shutil.rmtree(folder, ignore_errors=False)


def _kill_users(folder: Path) -> None:
    """Kill the processes of a killed build that are still running in its folder.

    A process belongs to the folder if its root or working directory, arguments or TMPDIR do.
    """
    needle = str(folder).encode()
    for process in Path("/proc").glob("[0-9]*"):
        if int(process.name) == os.getpid():
            continue
        with suppress(OSError):
            process_bytes = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
            places = ((process / name).readlink() for name in ("root", "cwd"))
            if needle in process_bytes or any(place.is_relative_to(folder) for place in places):
                os.kill(int(process.name), signal.SIGKILL)


def commit(images_dir: Path, workdir: Path, manifest: Manifest) -> Path:
    """Turn a work folder into an image: sync all files, write the manifest last, then rename.

    An existing image (corrupt, or rebuilt on purpose) is replaced.
    """
    for path in list_files(workdir):
        _sync(path)
    write_atomic(workdir / MANIFEST, manifest.model_dump_json(indent=2) + "\n")
    remember_checked(workdir, manifest)
    _sync(workdir)
    final = image_folder(images_dir, manifest.name, manifest.recipe_digest)
    old: Path | None = None
    if final.exists():
        old = Path(tempfile.mkdtemp(prefix=LEFTOVER, dir=final.parent)) / "old"
        final.rename(old)
    workdir.rename(final)
    _sync(final.parent)
    if old is not None:
        remove_folder(old.parent)
    return final


def check_files(folder: Path, manifest: Manifest, *, thorough: bool) -> None:
    """Compare the files of an image with its manifest.

    Args:
        folder: folder of the image.
        manifest: manifest of the image.
        thorough: read every byte; else only files whose size or change time differs from the last
            check that read them.

    Raises:
        ImageCorruptError: a file is missing, unexpected, or differs.
    """
    present = {str(path.relative_to(folder)) for path in list_files(folder)}
    wrong = [f"{name}: missing" for name in sorted(manifest.files.keys() - present)]
    wrong += [f"{name}: unexpected" for name in sorted(present - manifest.files.keys())]
    seen = {} if thorough else _read_checked(folder)
    reread = False
    for name, entry in manifest.files.items():
        path = folder / name
        if name not in present or seen.get(name) == _fingerprint(path):
            continue
        reread = True
        if path.stat().st_size != entry.size_bytes:
            wrong.append(f"{name}: {path.stat().st_size} bytes, expected {entry.size_bytes}")
        elif (digest := digest_file(path)) != entry.sha256:
            wrong.append(f"{name}: SHA-256 is {digest}, expected {entry.sha256}")
    if wrong:
        raise ImageCorruptError(
            f"The image {manifest.name}:{manifest.variant} is corrupt.",
            details=f"In {folder}:\n" + "\n".join(wrong),
            resolution=f"Run `mesocosm image build {manifest.name}` to rebuild it.",
        )
    if reread:
        remember_checked(folder, manifest)


def remember_checked(folder: Path, manifest: Manifest) -> None:
    """Record size and change time of files whose content was just verified."""
    stamp = {name: _fingerprint(folder / name) for name in manifest.files}
    write_atomic(folder / _CHECKED, json.dumps(stamp))


def _read_checked(folder: Path) -> dict[str, list[int]]:
    try:
        stamp = json.loads((folder / _CHECKED).read_bytes())
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def _fingerprint(path: Path) -> list[int]:
    stat = path.stat()
    return [stat.st_size, stat.st_mtime_ns, stat.st_ino]


def _sync(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
