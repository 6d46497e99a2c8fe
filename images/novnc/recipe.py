"""noVNC's modules as static files of the service."""

from __future__ import annotations

import base64
import hashlib
import shutil
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.errors import ImageBuildError, ToolError
from foundation.process import find_tool, run
from images.recipe import Product

if TYPE_CHECKING:
    from collections.abc import Mapping

    from foundation.settings import Settings
    from images.recipe import Image, Report

NAME, VERSION = "@novnc/novnc", "1.7.0"
INTEGRITY = "sha512-ucEJOx4T2avIRCleodk7YobZj5O2Ga2AeLfQ69A/yjG9HHba2+PDgwSkN3FttrmG+70ZGx21sElNFouK13RzyA=="
"""Digest of the package, in the format of npm's lock files."""
PACKAGE = "novnc"
"""The distribution's package."""
MODULE = Path("core/rfb.js")
"""Folders that pages import."""

_FOLDERS = ("core", "vendor")
_TIMEOUT_S = 60.0
_FAIL_FAST_OPTIONS = (
    "--fetch-retries=0",
    "--fetch-timeout=10000",
    "--ignore-scripts",
    "--loglevel=error",
)


def novnc_recipe(settings: Settings) -> NovncRecipe:
    """Return the recipe, which is the same on every host."""
    del settings
    return NovncRecipe()


class NovncRecipe:
    """Recipe of the pinned package if npm provides it, else the distribution's.

    It does not depend on the host: hosts and containers compute the same digest.
    """

    name = "novnc"
    variant = VERSION
    needs: tuple[str, ...] = ()

    def inputs(self) -> Mapping[str, object]:
        """Return the pinned package."""
        return {"package": f"{NAME}@{VERSION}", "integrity": INTEGRITY}

    def build(self, workdir: Path, report: Report, needed: Mapping[str, Image]) -> Product:
        """Fetch the package.

        Raises:
            ImageBuildError: neither npm nor the distribution's archive provides it.
        """
        del needed
        scratch = workdir / "scratch"
        scratch.mkdir()
        reasons = []
        for fetch in (_from_npm, _from_distribution):
            try:
                tree, origin = fetch(scratch)
            except (ToolError, ImageBuildError, OSError, tarfile.TarError) as exc:
                reasons.append(str(exc))
                report("fetch", None, str(exc))
                continue
            for folder in _FOLDERS:
                shutil.copytree(tree / folder, workdir / folder)
            for licence in (
                *tree.glob("LICENSE*"),
                *scratch.glob("deb/usr/share/doc/novnc/copyright"),
            ):
                shutil.copy(licence, workdir)
            shutil.rmtree(scratch)
            return Product(notes={"origin": origin})
        raise ImageBuildError(
            "noVNC could not be fetched.",
            details="\n".join(reasons),
            resolution="Until then, pages show screenshots. Install npm, or run `apt-get update`.",
        )


def _from_npm(scratch: Path) -> tuple[Path, str]:
    """Fetch the pinned package from npm; return its folder and origin."""
    if find_tool("npm") is None:
        raise ImageBuildError("npm is not installed.")
    argv = [
        "npm",
        "pack",
        f"{NAME}@{VERSION}",
        "--pack-destination",
        str(scratch),
        *_FAIL_FAST_OPTIONS,
    ]
    run(argv, timeout_s=_TIMEOUT_S, cwd=scratch).require()
    archive = next(scratch.glob("*.tgz"))
    require_integrity(archive, INTEGRITY)
    with tarfile.open(archive) as packed:
        packed.extractall(scratch / "npm", filter="data")
    return scratch / "npm" / "package", f"npm package {NAME} {VERSION}"


def _from_distribution(scratch: Path) -> tuple[Path, str]:
    """Fetch the distribution's package, verified by apt; return its folder and origin."""
    run(["apt-get", "-q", "download", PACKAGE], timeout_s=_TIMEOUT_S, cwd=scratch).require()
    package = next(scratch.glob(f"{PACKAGE}_*.deb"))
    tree = scratch / "deb"
    run(["dpkg-deb", "--extract", str(package), str(tree)], timeout_s=_TIMEOUT_S).require()
    version = package.name.split("_")[1].replace("%3a", ":")
    return tree / "usr/share/novnc", f"distribution package {PACKAGE} {version}"


def require_integrity(path: Path, integrity: str) -> None:
    """Check that a file matches its pinned digest.

    Args:
        path: path of the file.
        integrity: name of the hash, a dash, and the digest in base64.

    Raises:
        ImageBuildError: the digest differs.
    """
    kind, _, digest = integrity.partition("-")
    actual_digest = base64.b64encode(hashlib.new(kind, path.read_bytes()).digest()).decode()
    if actual_digest != digest:
        raise ImageBuildError(
            f"{path.name} is not the pinned package.",
            details=f"Its {kind} is {actual_digest}, expected {digest}.",
        )
