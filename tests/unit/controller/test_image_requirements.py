"""Images are compared with what a suite requires before anything is leased."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import pytest

from controller.image_requirements import (
    has_app,
    require_shipped_images,
    require_suite_images,
)
from evaluators.catalogue import Vocabulary
from evaluators.loading.requirements import AppRequirement
from evaluators.loading.suite import Suite
from foundation.errors import RequirementError
from foundation.settings import Settings
from images.builder import Builder
from images.recipe import Product
from provisioning.resource import ResourceSpec

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from images.recipe import Image, Report

PACKAGES = {"gimp": "2.10.30-1ubuntu0.1", "vim": "2:9.0.1378-2", "git": "1:2.39"}


@pytest.mark.parametrize(
    ("text", "is_met"),
    [
        (("gimp",), True),
        (("gimp", ">=", "2.10"), True),
        (("gimp", ">=", "2.10.34"), False),
        (("gimp", ">=", "2.9"), True),
        (("vim", "=", "9.0.1378"), True),
        (("vim", ">=", "9.1"), False),
        (("git", "=", "2.39"), True),
        (("mtpaint",), False),
    ],
)
def test_versions_are_those_of_the_program(text: tuple[str, ...], is_met: bool) -> None:
    assert has_app(AppRequirement(*text), PACKAGES) is is_met


@dataclass
class PackagesRecipe:
    """A desktop with nothing but a list of packages."""

    variant: str
    packages: Mapping[str, str]
    name: str = "desktop"
    needs: tuple[str, ...] = field(default=())

    def inputs(self) -> Mapping[str, object]:
        return {}

    def build(self, workdir: Path, report: Report, needed: Mapping[str, Image]) -> Product:
        (workdir / "disk").write_text("")
        return Product(packages=dict(self.packages))


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Return settings with two built desktops, of which one has mtpaint."""
    recipes = {
        "ubuntu-22.04": PackagesRecipe("ubuntu-22.04", PACKAGES),
        "debian-12": PackagesRecipe("debian-12", {**PACKAGES, "mtpaint": "3.50-1"}),
    }

    def make(_name: str, settings: Settings) -> PackagesRecipe:
        return recipes[settings.distribution]

    made = Settings(state_dir=tmp_path, distribution="ubuntu-22.04")
    for name in recipes:
        own = made.model_copy(update={"distribution": name})
        Builder(own, make=make).ensure("desktop")
    builder = Builder(made, make=make)
    monkeypatch.setattr(
        "controller.image_requirements.find", lambda label, _settings: builder.find(label)
    )
    return made


def suite(folder: Path, *requires: AppRequirement) -> Suite:
    vocabulary = Vocabulary(cast("Any", {}), folder=folder)
    return Suite("demo", "1", "", "", (), vocabulary, {}, requires=requires)


def test_an_image_that_lacks_an_application_is_named_with_one_that_has_it(
    settings: Settings, tmp_path: Path
) -> None:
    wanted = suite(tmp_path, AppRequirement("mtpaint", ">=", "3.40"), AppRequirement("gimp"))
    with pytest.raises(RequirementError) as caught:
        require_suite_images(wanted, [ResourceSpec("desktop")], settings)
    assert "desktop:ubuntu-22.04 lacks what the suite demo requires" in caught.value.brief
    assert "required: mtpaint >= 3.40; it has no such package" in caught.value.details
    assert "gimp" not in caught.value.details
    assert "These images have it: debian-12." in caught.value.resolution
    require_suite_images(wanted, [ResourceSpec("desktop", "debian-12")], settings)
    require_suite_images(wanted, [ResourceSpec("phone")], settings)


def test_no_image_with_an_application_leads_to_the_docs(settings: Settings, tmp_path: Path) -> None:
    wanted = suite(tmp_path, AppRequirement("blender"))
    with pytest.raises(RequirementError, match="No built image has it"):
        require_suite_images(wanted, [ResourceSpec("desktop")], settings)


def test_an_image_that_a_suite_brings_is_built_first(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "images/paint").mkdir(parents=True)
    with pytest.raises(RequirementError) as caught:
        require_shipped_images(suite(tmp_path), [ResourceSpec("desktop", "paint")], settings)
    assert f"mesocosm image build {tmp_path}/images/paint" in caught.value.resolution
    require_shipped_images(suite(tmp_path), [ResourceSpec("desktop", "debian-12")], settings)
