from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from appliance.bringup.currency import recorded_names
from foundation.errors import ImageMissingError, RequirementError
from foundation.settings import Settings
from images.builder import Builder
from images.catalog import make_recipe
from images.currency import Currency, judge_images
from images.recipe_digest import portable_recipe_digest
from images.recorded import record_path
from images.recording import record_recipes
from tests.unit.images.stub import StubRecipe, builder_of

if TYPE_CHECKING:
    from pathlib import Path


def in_container(settings: Settings) -> Settings:
    return settings.model_copy(update={"place": "container"})


def test_container_evaluates_images_by_the_recipes_recorded_on_the_host(tmp_path: Path) -> None:
    base = StubRecipe(tmp_path / "base-builds", name="base")
    upper = StubRecipe(tmp_path / "upper-builds", name="upper", needs=("base",))
    host = builder_of(tmp_path, base, upper)
    record_recipes(["upper"], host.settings, host.make)
    assert not record_path(host.settings).exists(), "there are no images to record recipes for"
    image = host.ensure("upper")
    record_recipes(["upper"], host.settings, host.make)

    container = Builder(in_container(host.settings))
    assert container.find("upper") == image
    assert {state.currency for state in judge_images(["upper"], container)} == {Currency.CURRENT}

    base.content = "changed"
    record_recipes(["upper"], host.settings, host.make)
    states = {state.name: state for state in judge_images(["upper"], container)}
    assert states["base"].currency is Currency.STALE
    assert states["base"].reason.endswith("UTC): content.")
    with pytest.raises(RequirementError, match="cannot be built in a container"):
        container.ensure("base")


def test_recorded_recipes_have_the_digests_of_the_host(tmp_path: Path) -> None:
    host = Settings(state_dir=tmp_path, distribution="debian-12")
    host.images_dir.mkdir()
    record_recipes(recorded_names(host), host)
    for name in recorded_names(host):
        real, recorded = make_recipe(name, host), make_recipe(name, in_container(host))
        assert recorded.variant == real.variant
        assert recorded.needs == real.needs
        digest = portable_recipe_digest(name, host)
        assert portable_recipe_digest(name, in_container(host)) == digest
    assert "desktop" in recorded_names(host)
    assert "phone" in recorded_names(host)


def test_unrecorded_recipe_is_reported_with_a_fix(tmp_path: Path) -> None:
    host = Settings(state_dir=tmp_path, distribution="debian-12")
    with pytest.raises(ImageMissingError, match="has not recorded the recipe of desktop") as caught:
        make_recipe("desktop", in_container(host))
    assert "mesocosm up" in caught.value.resolution
    host.images_dir.mkdir()
    record_recipes(["desktop"], host)
    assert make_recipe("desktop", in_container(host)).variant == "debian-12"
    assert make_recipe("desktop", in_container(Settings(state_dir=tmp_path))).variant == "debian-12"
    with pytest.raises(ImageMissingError, match=r"no recipe of ubuntu-24\.04") as caught:
        make_recipe(
            "desktop", in_container(Settings(state_dir=tmp_path, distribution="ubuntu-24.04"))
        )
    record_path(host).write_text("{")
    with pytest.raises(ImageMissingError):
        make_recipe("desktop", in_container(host))
