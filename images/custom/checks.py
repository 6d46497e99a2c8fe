"""Check what ``image.yaml`` names: local files, digests, packages, free space."""

from __future__ import annotations

import ast
import shutil
import tarfile
import zipfile
from typing import TYPE_CHECKING

from foundation.errors import SpecError, nearest
from foundation.files import digest_file
from foundation.process import run
from foundation.yaml_source import join_errors
from images.custom.registered import SCREEN

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from foundation.yaml_source import Where
    from images.custom.folder import ImageFolder, Lineage
    from images.custom.steps import LocalFile, Step

_FONTS = (".ttf", ".otf", ".ttc")
_TARS = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2", ".tar.zst")
_ARCHITECTURES = ("amd64", "all")
_NAMES_COMPARED = 4000
_PNG = b"\x89PNG\r\n\x1a\n"


def check_lineage(
    lineage: Lineage, packages: Collection[str] | None, *, free_mib: int, needed_mib: int
) -> None:
    """Check everything that an image and its parents name.

    Args:
        lineage: the image and its parents.
        packages: names of the parent's distribution's packages; None if they are unknown.
        free_mib: free space of the images' file system, MiB.
        needed_mib: space that the build needs, MiB.

    Raises:
        SpecError: there are errors; the details have all, each with file and line.
    """
    errors: list[SpecError] = []
    for folder in lineage.folders:
        errors += check_files(folder)
        errors += [] if packages is None else check_packages(folder, packages)
    own = lineage.own
    if free_mib < needed_mib:
        errors.append(
            own.source.error(
                ("machine", "disk_gib"),
                f"there is no disk space for it: the build needs {needed_mib} MiB, "
                f"{free_mib} MiB are free.",
                resolution="Free some space (`mesocosm image prune`, `docker system prune`), or "
                "set MESOCOSM_STATE_DIR to a larger disk.",
            )
        )
    if errors:
        raise join_errors(errors)


def check_files(folder: ImageFolder) -> list[SpecError]:
    """Return the errors in the local files that an image names, and in its tests."""
    errors: list[SpecError] = []
    for number, step in enumerate(folder.content.steps):
        for where, name in step.sources():
            place = ("steps", number, *where)
            errors += _check_exists(folder, place, name) or _check_content(
                folder, place, name, step
            )
    screen = folder.path / SCREEN
    if screen.exists() and not (screen.is_file() and screen.read_bytes()[:8] == _PNG):
        problem = f"{SCREEN}, the picture of its reviewed screen, is not a PNG."
        errors.append(folder.source.error(("name",), problem))
    for test in folder.tests:
        try:
            ast.parse(test.read_bytes(), filename=str(test))
        except (SyntaxError, ValueError) as exc:
            line = getattr(exc, "lineno", None) or 1
            errors.append(SpecError(f"{test}:{line}: this is not valid Python: {exc}."))
    return errors


def check_packages(folder: ImageFolder, packages: Collection[str]) -> list[SpecError]:
    """Return an error for each package that the distribution does not have."""
    errors = []
    for number, step in enumerate(folder.content.steps):
        for place, written in enumerate(step.packages):
            name = written.partition("=")[0]
            if name not in packages:
                near = nearest(name, _similar(name, packages))
                hint = f"Did you mean {' or '.join(map(repr, near))}?" if near else ""
                errors.append(
                    folder.source.error(
                        ("steps", number, "packages", place),
                        f"the distribution has no package {name!r}.",
                        resolution=hint or "`apt-cache search WORD` finds packages.",
                    )
                )
    return errors


def _similar(name: str, packages: Collection[str]) -> list[str]:
    """Return the packages worth comparing with a misspelt name, of tens of thousands."""
    letters = set(name)
    close = [
        (len(letters ^ set(other)) + abs(len(other) - len(name)), other)
        for other in packages
        if abs(len(other) - len(name)) <= 3 and (other[0] == name[0] or other[-2:] == name[-2:])  # noqa: PLR2004
    ]
    return [other for _, other in sorted(close)[:_NAMES_COMPARED]]


def _check_exists(folder: ImageFolder, where: Where, name: str) -> list[SpecError]:
    root = folder.path.resolve()
    path = (root / name).resolve()
    if not path.is_relative_to(root):
        return [folder.source.error(where, f"{name} leads out of the image's folder.")]
    if path.exists():
        return []
    names = [str(other.relative_to(root)) for other in _some_files(root)]
    near = nearest(name, names)
    hint = f"Did you mean {' or '.join(map(repr, near))}?" if near else ""
    message = f"the image's folder has no {name}."
    return [folder.source.error(where, message, resolution=hint)]


def _some_files(root: Path) -> Iterator[Path]:
    """Yield the files and folders of an image, at most a few thousand."""
    for number, path in enumerate(root.rglob("*")):
        if number == _NAMES_COMPARED:
            return
        yield path


def _check_content(folder: ImageFolder, where: Where, name: str, step: Step) -> list[SpecError]:
    """Check the content of a file that exists."""
    path = folder.path / name
    problem = ""
    match where[2]:
        case "debs":
            entry: LocalFile = step.debs[int(where[3])]
            return _check_digest(folder, where, entry) or _as_errors(
                folder, where, _problem_of_deb(path)
            )
        case "archives":
            entry = step.archives[int(where[3])]
            return _check_digest(folder, where, entry) or _as_errors(
                folder, where, _problem_of_archive(path)
            )
        case "fonts" if not path.is_file() or path.suffix.lower() not in _FONTS:
            problem = f"{name} is not a font file ({', '.join(_FONTS)})."
        case "data" if "profiles" in where and not path.is_dir():
            problem = f"{name} is not a folder."
    return _as_errors(folder, where, problem)


def _as_errors(folder: ImageFolder, where: Where, problem: str) -> list[SpecError]:
    return [folder.source.error(where, problem)] if problem else []


def _check_digest(folder: ImageFolder, where: Where, entry: LocalFile) -> list[SpecError]:
    path = folder.path / entry.file
    if not path.is_file():
        return [folder.source.error(where, f"{entry.file} is not a file.")]
    digest = digest_file(path)
    if digest == entry.sha256:
        return []
    return [
        folder.source.error(
            (*where[:-1], "sha256"),
            f"the SHA-256 of {entry.file} is {digest}, not {entry.sha256}.",
            resolution="If the file is the right one, write its digest here.",
        )
    ]


def _problem_of_deb(path: Path) -> str:
    shown = run(["dpkg-deb", "--field", str(path), "Architecture"])
    if shown.exit_code != 0:
        return f"{path.name} is not a Debian package."
    if shown.text not in _ARCHITECTURES:
        return f"{path.name} is for {shown.text}; machines are amd64."
    return ""


def _problem_of_archive(path: Path) -> str:
    if not (path.name.endswith(_TARS) or path.suffix == ".zip"):
        return f"{path.name} is not an archive ({', '.join((*_TARS, '.zip'))})."
    if path.name.endswith(".zst"):  # the host's Python cannot look inside
        return ""
    try:
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as opened:
                names = opened.namelist()
        else:
            with tarfile.open(path) as tar:
                names = tar.getnames()
    except (tarfile.TarError, zipfile.BadZipFile, OSError, EOFError) as exc:
        return f"{path.name} cannot be read: {exc}."
    outside = [name for name in names if name.startswith("/") or ".." in name.split("/")]
    return f"{path.name} contains {outside[0]!r}, which is outside of it." if outside else ""


def free_mib(folder: Path) -> int:
    """Return the free space of a folder's file system, MiB; the folder need not exist."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    return shutil.disk_usage(existing).free >> 20
