"""noVNC: only the pinned package, from npm or the distribution, or a clear error."""

from __future__ import annotations

import base64
import hashlib
import tarfile
from typing import TYPE_CHECKING

import pytest

from foundation.errors import ImageBuildError
from foundation.process import find_tool, run
from foundation.settings import Settings
from images.builder import Builder
from images.novnc import recipe

if TYPE_CHECKING:
    from pathlib import Path

NPM = """#!/bin/sh
# npm pack NAME --pack-destination FOLDER ...
cp {package} "$4/novnc.tgz"
"""


def a_package(folder: Path) -> Path:
    """Return a package in npm's format."""
    for name in ("core/rfb.js", "vendor/pako/inflate.js", "docs/API.md"):
        path = folder / "package" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"// {name}\n")
    with tarfile.open(folder / "made.tgz", "w:gz") as packed:
        packed.add(folder / "package", "package")
    return folder / "made.tgz"


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of programs that come first in PATH; apt finds nothing."""
    folder = tmp_path / "bin"
    folder.mkdir()
    path = f"{folder}:/usr/bin:/bin"
    monkeypatch.setenv("PATH", path)
    add_tool(folder, "apt-get", "#!/bin/sh\necho 'no archive answers' >&2; exit 100\n")
    add_tool(folder, "npm", "#!/bin/sh\necho 'no registry answers' >&2; exit 1\n")
    return folder


def add_tool(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


def builder(tmp_path: Path) -> Builder:
    return Builder(Settings(state_dir=tmp_path / "state"))


def test_pinned_package_is_taken_from_npm(
    tmp_path: Path, tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = a_package(tmp_path)
    digest = base64.b64encode(hashlib.sha512(package.read_bytes()).digest()).decode()
    monkeypatch.setattr(recipe, "INTEGRITY", f"sha512-{digest}")
    add_tool(tools, "npm", NPM.format(package=package))
    image = builder(tmp_path).ensure("novnc")
    assert image.file("core/rfb.js").is_file()
    assert sorted(path.name for path in image.path.iterdir() if path.is_dir()) == ["core", "vendor"]
    assert builder(tmp_path).find("novnc") == image


def test_unpinned_package_is_rejected(tmp_path: Path, tools: Path) -> None:
    add_tool(tools, "npm", NPM.format(package=a_package(tmp_path)))
    with pytest.raises(ImageBuildError) as caught:
        builder(tmp_path).ensure("novnc")
    assert "not the pinned package" in caught.value.details
    assert not any((tmp_path / "state/images/novnc").glob("[0-9a-f]*"))


@pytest.mark.skipif(not find_tool("dpkg-deb"), reason="not a Debian or Ubuntu")
def test_falls_back_to_the_distribution_package_without_npm(tmp_path: Path, tools: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "DEBIAN").mkdir(parents=True)
    fields = (
        "Package: novnc\nVersion: 1:1.3.0-1\nArchitecture: all\nMaintainer: me\nDescription: x\n"
    )
    (tree / "DEBIAN/control").write_text(fields)
    for name in ("core/rfb.js", "vendor/pako/inflate.js", "app/ui.js"):
        path = tree / "usr/share/novnc" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("//\n")
    package = tmp_path / "novnc_1%3a1.3.0-1_all.deb"
    run(["dpkg-deb", "--build", str(tree), str(package)]).require()
    add_tool(tools, "apt-get", f"#!/bin/sh\ncp {package} .\n")
    made = builder(tmp_path)
    image = made.ensure("novnc")
    assert image.file("core/rfb.js").is_file()
    assert '"distribution package novnc 1:1.3.0-1"' in image.file("manifest.json").read_text()


@pytest.mark.usefixtures("tools")
def test_both_reasons_are_reported_if_neither_source_works(tmp_path: Path) -> None:
    with pytest.raises(ImageBuildError, match="could not be built") as caught:
        builder(tmp_path).ensure("novnc")
    assert "no registry answers" in caught.value.details
    assert "no archive answers" in caught.value.details
    assert "screenshots" in caught.value.resolution
