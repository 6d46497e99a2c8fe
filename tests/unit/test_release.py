"""A release is rejected while anything that it promises is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from foundation.process import run
from tests.nightly.release import find_obstacles

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x"\nversion = "1.2.3"\n')
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n\n## 1.2.3 (today)\n")
    for argv in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "All"]):
        author = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        run(["git", *author, *argv], cwd=tmp_path).require()
    return tmp_path


def test_complete_checkout_can_be_released(checkout: Path) -> None:
    assert find_obstacles("1.2.3", [], checkout) == []


def test_stale_proof_prevents_a_release(checkout: Path) -> None:
    assert find_obstacles("1.2.3", ["nightly rewinds: never run"], checkout) == [
        "nightly rewinds: never run"
    ]


def test_every_obstacle_is_named(checkout: Path) -> None:
    run(["git", "tag", "v1.2"], cwd=checkout).require()
    (checkout / "CHANGELOG.md").write_text("## 1.2.3\n")
    assert find_obstacles("1.2", [], checkout) == [
        "the checkout has uncommitted changes",
        "the tag v1.2 exists",
        "pyproject.toml has version 1.2.3, not 1.2",
        "CHANGELOG.md has no section ## 1.2",
    ]
