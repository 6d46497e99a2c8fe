"""Tag a release: ``make release VERSION=1.2.3``.

Unlike a merge, a release requires that every row of the ledger is current and passed. Nothing is
published; the tag is created in this checkout.
"""

from __future__ import annotations

import re
import sys
import tomllib
from typing import TYPE_CHECKING

from foundation.process import run
from tests.nightly.ledger import REPOSITORY, stale_lines

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def find_obstacles(version: str, stale: Sequence[str], root: Path = REPOSITORY) -> list[str]:
    """Return one line for each reason why this checkout cannot be released.

    Args:
        version: version of the release, such as ``1.2.3``.
        stale: output of `stale_lines`.
        root: root of the checkout.
    """
    obstacles = list(stale)
    if run(["git", "status", "--porcelain"], cwd=root).require().stdout:
        obstacles.append("the checkout has uncommitted changes")
    if run(["git", "tag", "--list", tag_of(version)], cwd=root).require().stdout:
        obstacles.append(f"the tag {tag_of(version)} exists")
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    if project["version"] != version:
        obstacles.append(f"pyproject.toml has version {project['version']}, not {version}")
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    if not re.search(rf"^## {re.escape(version)}( |$)", changelog, re.MULTILINE):
        obstacles.append(f"CHANGELOG.md has no section ## {version}")
    return obstacles


def tag_of(version: str) -> str:
    """Return the tag name of a version."""
    return f"v{version}"


def release(version: str) -> int:
    """Tag HEAD, or print why it is refused; return the exit code."""
    if obstacles := find_obstacles(version, stale_lines()):
        print("\n".join(["This checkout cannot be released:", *obstacles]), file=sys.stderr)  # noqa: T201
        return 1
    run(
        ["git", "tag", "-a", tag_of(version), "-m", f"Mesocosm {version}"], cwd=REPOSITORY
    ).require()
    print(f"tagged {tag_of(version)}; `git push origin {tag_of(version)}` publishes it")  # noqa: T201
    return 0
