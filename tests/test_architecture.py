"""docs/architecture.md lists all packages of the source tree, and no others."""

from __future__ import annotations

import re
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
TOP = (
    "mesocosm",
    "foundation",
    "appliance",
    "images",
    "provisioning",
    "evaluators",
    "monitoring",
    "controller",
)
PAGE = (REPOSITORY / "docs" / "architecture.md").read_text()
ROW = re.compile(r"^\| `([\w/]+)` \|", re.MULTILINE)


def packages() -> set[str]:
    """Return the folders that contain modules, directly or in subfolders, up to two levels deep."""
    folders = set()
    for top in TOP:
        paths = (REPOSITORY / top).rglob("*.py")
        for parts in (path.relative_to(REPOSITORY).parent.parts[:2] for path in paths):
            folders.add("/".join(parts))
    # Apart from a docstring, it has modules only in its folders.
    return folders - {"appliance"}


def test_the_table_of_packages_is_that_of_the_tree() -> None:
    section = PAGE.partition("## Packages")[2].partition("\n## ")[0]
    assert sorted(ROW.findall(section)) == sorted(packages())


def test_every_path_that_the_page_names_exists() -> None:
    names = re.findall(r"`((?:[a-z_]+/)+[\w.]*)`", PAGE)
    assert names
    assert [name for name in names if not (REPOSITORY / name).exists()] == []
