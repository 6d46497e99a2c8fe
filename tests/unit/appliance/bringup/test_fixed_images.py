"""Images that are not built here: names, registration, recipe, mark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from appliance.bringup.fixed_images import (
    build_fixed,
    is_hand_made,
    read_fixed,
    register_fixed,
    require_free_name,
    require_image,
)
from foundation.errors import ImageBuildError, UnknownNameError, UsageError
from foundation.settings import Settings
from images.builder import Builder
from images.custom.fixed import HAND_MADE, FixedImage, split_reference
from images.custom.guest_settings import GuestSettings
from images.custom.registered import parent_of, registered_names, unregister
from images.log import ignore_progress
from images.recipe import Product

if TYPE_CHECKING:
    from pathlib import Path

    from images.recipe import Report

RECORD = FixedImage(id="1", origin="hand-made", name="office:tag", parent="debian-12", machine="m")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(state_dir=tmp_path / "state")


def make(workdir: Path, report: Report) -> Product:
    del report
    (workdir / "disk.qcow2").write_text("disk")
    return Product(notes={HAND_MADE: "from m"})


@pytest.mark.parametrize("text", ["Office", "a b", "office:", "office:a:b", "", "../x", "office/x"])
def test_what_is_no_name_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="not the name of an image"):
        split_reference(text)


def test_name_and_tag() -> None:
    assert split_reference("office") == ("office", "")
    assert split_reference("my-office:2026.1") == ("my-office", "2026.1")


def test_a_registered_image_is_found_by_its_name_with_tag_and_needs_no_parent(
    settings: Settings,
) -> None:
    image = build_fixed(RECORD, make, settings, ignore_progress)
    register_fixed(RECORD, settings, description="By hand.")
    assert Builder(settings).find("desktop:office:tag") == image
    assert require_image("office:tag", settings) == image
    assert (image.label, is_hand_made(image)) == ("desktop:office:tag", True)
    assert registered_names(settings) == ["office:tag"]
    assert parent_of("office:tag", settings) == "debian-12"
    assert read_fixed("office:tag", settings) == RECORD


def test_a_taken_or_shipped_name_is_refused_and_free_once_it_is_removed(settings: Settings) -> None:
    build_fixed(RECORD, make, settings, ignore_progress)
    register_fixed(RECORD, settings, description="")
    with pytest.raises(UsageError, match="already an image called 'office:tag'") as caught:
        require_free_name("office:tag", settings)
    assert "mesocosm image remove office:tag" in caught.value.resolution
    require_free_name("office:other", settings)
    with pytest.raises(UsageError, match="shipped"):
        require_free_name("debian-12:mine", settings)
    unregister("office:tag", settings)
    require_free_name("office:tag", settings)


def test_it_cannot_be_built_again(settings: Settings) -> None:
    image = build_fixed(RECORD, make, settings, ignore_progress)
    register_fixed(RECORD, settings, description="")
    (image.path / "manifest.json").unlink()
    with pytest.raises(ImageBuildError) as caught:
        Builder(settings).ensure("desktop:office:tag")
    assert "from a machine or a file" in caught.value.details
    assert "mesocosm image diff office:tag --as-yaml" in caught.value.resolution


def test_an_unknown_image_is_named_with_near_ones(settings: Settings) -> None:
    build_fixed(RECORD, make, settings, ignore_progress)
    register_fixed(RECORD, settings, description="")
    with pytest.raises(UnknownNameError, match="ofice"):
        require_image("ofice:tag", settings)


def test_settings_are_read_from_the_output_of_the_guests_programs() -> None:
    dump = "[org/gnome/desktop/interface]\ntext-scaling-factor=1.25\n\n[org/x]\nnames=['a=b']\n"
    schemas = "org.gnome.desktop.interface /org/gnome/desktop/interface/\norg.relocatable\n"
    known = GuestSettings.parse(dump, schemas)
    assert known.values == {
        "/org/gnome/desktop/interface/text-scaling-factor": "1.25",
        "/org/x/names": "['a=b']",
    }
    interface = ("org.gnome.desktop.interface", "text-scaling-factor")
    assert known.spell("/org/gnome/desktop/interface/text-scaling-factor") == interface
    assert known.spell("/org/x/names") is None
