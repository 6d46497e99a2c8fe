"""Registered images are variants of the desktop, with a parent each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from foundation.errors import ImageCorruptError, ImageMissingError, UnknownNameError
from foundation.settings import Settings
from images.catalog import make_recipe, settings_for, split_label
from images.custom.folder import read_folder
from images.custom.registered import (
    Verdict,
    find_registered,
    register,
    registered_names,
    require_not_failed,
    unfinished_names,
    unregister,
    write_verdict,
)

if TYPE_CHECKING:
    from pathlib import Path

TEXT = "schema_version: 1\nname: paint\nextends: debian-12\nsteps: [{run: echo 1}]\n"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(state_dir=tmp_path / "state")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "paint"
    path.mkdir()
    (path / "image.yaml").write_text(TEXT)
    return path


def test_a_registered_image_is_a_variant_of_the_desktop(folder: Path, settings: Settings) -> None:
    assert settings_for("desktop:paint", settings) is None
    register(read_folder(folder), "debian-12", settings)
    assert registered_names(settings) == ["paint"]
    name, own = split_label("desktop:paint", settings)
    recipe = make_recipe(name, own)
    assert (recipe.name, recipe.variant, recipe.needs) == (
        *("desktop", "paint"),
        ("desktop:debian-12",),
    )
    container = make_recipe(*split_label("desktop-container:paint", settings))
    assert (container.variant, container.needs) == ("paint", ("desktop",))
    # Its parent is again the shipped one, although settings name the image.
    assert split_label("desktop:debian-12", own)[1].distribution == "debian-12"


def test_a_new_copy_replaces_the_old_one(folder: Path, settings: Settings) -> None:
    register(read_folder(folder), "debian-12", settings)
    before = make_recipe(*split_label("desktop:paint", settings)).inputs()
    (folder / "image.yaml").write_text(TEXT.replace("echo 1", "echo 2"))
    assert make_recipe(*split_label("desktop:paint", settings)).inputs() == before
    register(read_folder(folder), "debian-12", settings)
    assert make_recipe(*split_label("desktop:paint", settings)).inputs() != before
    copies = list((settings.custom_images_dir / "paint").glob("copy-*"))
    assert len(copies) == 1


def test_an_image_that_failed_is_refused(folder: Path, settings: Settings) -> None:
    register(read_folder(folder), "debian-12", settings)
    write_verdict("paint", Verdict(digest="1", failed=("test_it: no",)), settings)
    require_not_failed("paint", "2", settings)
    with pytest.raises(ImageCorruptError, match="failed its specification") as caught:
        require_not_failed("paint", "1", settings)
    assert "test_it: no" in caught.value.details


def test_a_removed_image_is_unknown(folder: Path, settings: Settings) -> None:
    register(read_folder(folder), "debian-12", settings)
    unregister("paint", settings)
    assert find_registered("paint", settings) is None
    with pytest.raises(UnknownNameError):
        split_label("desktop:paint", settings)


def test_image_whose_first_build_was_interrupted_is_named_and_can_be_removed(
    settings: Settings, folder: Path
) -> None:
    place = settings.custom_images_dir / "paint"
    place.mkdir(parents=True)
    (place / ".lock").touch()
    assert unfinished_names(settings) == ["paint"]
    with pytest.raises(ImageMissingError, match=r"desktop:paint is not finished.*"):
        split_label("desktop:paint", settings)
    register(read_folder(folder), "debian-12", settings)
    assert unfinished_names(settings) == []
    unregister("paint", settings)
    place.mkdir()
    (place / ".lock").touch()
    unregister("paint", settings)
    assert not place.exists()
    with pytest.raises(UnknownNameError):
        split_label("desktop:paint", settings)
