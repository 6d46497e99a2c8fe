"""Tests of the renderer's recipe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foundation.settings import Settings
from images.catalog import NAMES, ON_REQUEST, make_recipe
from images.renderer.recipe import HERE

if TYPE_CHECKING:
    from pathlib import Path


def test_it_is_made_from_the_desktop_on_request(tmp_path: Path) -> None:
    recipe = make_recipe("renderer", Settings(state_dir=tmp_path, distribution="debian-12"))
    assert recipe.variant == "debian-12"
    assert recipe.needs == ("base", "desktop-container")
    assert "renderer" in ON_REQUEST
    assert "renderer" not in NAMES


def test_its_digest_covers_the_program(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path, distribution="debian-12")
    files = make_recipe("renderer", settings).inputs()["files"]
    assert isinstance(files, dict)
    assert "src/images/renderer/program" in files
    assert (HERE / "program" / "main.py").is_file()


def test_the_lock_has_what_is_asked_for() -> None:
    asked = {line.split(">")[0] for line in (HERE / "requirements.txt").read_text().split()}
    locked = {
        line.split("==")[0]
        for line in (HERE / "requirements.lock").read_text().splitlines()
        if "==" in line
    }
    assert locked == {*asked, "typing-extensions"}  # which pypdf needs
