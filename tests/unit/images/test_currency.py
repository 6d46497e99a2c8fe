from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from appliance.bringup.currency import with_currency
from appliance.bringup.preflight import build_images, require_images
from foundation.errors import RequirementError
from images.currency import Currency, ImageState, judge_images
from images.manifest import MANIFEST
from tests.unit.images.stub import StubRecipe, builder_of, write_other

if TYPE_CHECKING:
    from pathlib import Path

    from images.builder import Builder


@pytest.fixture
def base(tmp_path: Path) -> StubRecipe:
    return StubRecipe(tmp_path / "base-builds", name="base")


@pytest.fixture
def builder(tmp_path: Path, base: StubRecipe) -> Builder:
    upper = StubRecipe(tmp_path / "upper-builds", name="upper", needs=("base",))
    return builder_of(tmp_path, base, upper)


def judged(builder: Builder) -> dict[str, ImageState]:
    return {state.name: state for state in judge_images(["upper"], builder)}


def test_unbuilt_image_is_missing(builder: Builder) -> None:
    assert {state.currency for state in judged(builder).values()} == {Currency.MISSING}


def test_just_built_image_is_current(builder: Builder) -> None:
    builder.ensure("upper")
    assert {state.currency for state in judged(builder).values()} == {Currency.CURRENT}
    require_images(builder, ["upper"])


def test_changed_recipe_is_stale_and_so_are_its_dependents(
    builder: Builder, base: StubRecipe
) -> None:
    builder.ensure("upper")
    base.content = "changed"
    states = judged(builder)
    assert states["base"].currency is Currency.STALE
    assert states["base"].reason.startswith("Changed since it was built (")
    assert states["base"].reason.endswith("UTC): content.")
    assert states["upper"].currency is Currency.STALE
    assert states["upper"].reason == "Its base base:one is stale."
    with pytest.raises(RequirementError, match=r"base:one is stale\. Changed since") as caught:
        require_images(builder, ["upper"])
    assert "mesocosm image build base upper" in caught.value.resolution
    assert caught.value.exit_code == 3


def test_image_with_a_rebuilt_base_reports_it(builder: Builder, base: StubRecipe) -> None:
    builder.ensure("upper")
    base.content = "changed"
    base.work = write_other
    builder.ensure("base")
    assert "Its base base was rebuilt since" in judged(builder)["upper"].reason


def test_damaged_image_is_corrupt(builder: Builder) -> None:
    image = builder.ensure("base")
    image.file("disk.img").write_bytes(b"short")
    assert judged(builder)["base"].currency is Currency.CORRUPT


def test_currency_of_older_manifests_is_known(builder: Builder, base: StubRecipe) -> None:
    path = builder.ensure("base").path / MANIFEST
    text = path.read_text()
    path.write_text(text[: text.index('"inputs"')] + text[text.index('"docker_tag"') :])
    base.content = "changed"
    assert judged(builder)["base"].reason.startswith("Its recipe changed since it was built")


def test_outdated_images_are_rebuilt_on_request(
    builder: Builder, base: StubRecipe, tmp_path: Path
) -> None:
    from rich.console import Console

    builder.ensure("upper")
    shutil.rmtree(tmp_path / "images" / "base")
    base.content = "changed"
    build_images(builder, ["upper"], Console(quiet=True))
    require_images(builder, ["upper"])


def test_list_distinguishes_old_stale_and_missing_images() -> None:
    rows = [
        {"name": "base", "variant": "one", "built_at": "2026-01-01"},
        {"name": "base", "variant": "one", "built_at": "2026-02-01"},
        {"name": "base", "variant": "two", "built_at": "2026-02-01"},
        {"name": "broken", "state": "image_corrupt"},
    ]
    states = [
        ImageState("base", "one", Currency.STALE, "Changed."),
        ImageState("upper", "one", Currency.MISSING, "It was never built on this host."),
    ]
    shown = with_currency(rows, states)
    assert [row.get("currency", "") for row in shown] == ["old", "stale", "", "", "missing"]
    assert [row.get("reason", "") for row in shown][1] == "Changed."
