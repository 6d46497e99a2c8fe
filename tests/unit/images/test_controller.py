"""The image of controller and worker contains the extensions that the settings name."""

from __future__ import annotations

import tarfile
from typing import TYPE_CHECKING

import pytest

from foundation.container_environment import load_environment, write_environment
from foundation.process import run
from foundation.settings import Settings
from images.controller.recipe import controller_recipe
from images.dockerfile import DockerRecipe
from images.engine import build_context

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    outside = tmp_path / "outside"
    (outside / "shop_for_tests").mkdir(parents=True)
    (outside / "shop_for_tests" / "__init__.py").write_text("TABLE = ['entry']\n")
    monkeypatch.syspath_prepend(outside)
    return Settings(state_dir=tmp_path / "state", extensions="shop_for_tests:TABLE")


def test_an_extension_can_be_imported_where_the_image_puts_it(
    settings: Settings, tmp_path: Path
) -> None:
    files = controller_recipe(settings).files
    own = {name: path for name, path in files.items() if name.startswith("src/extensions/")}
    build_context(own, tmp_path / "context.tar")
    with tarfile.open(tmp_path / "context.tar") as tar:
        tar.extractall(tmp_path / "image", filter="data")
    code = "import sys; sys.path.insert(0, 'src/extensions'); import shop_for_tests as s; print(s.TABLE)"
    result = run(["python3", "-c", code], cwd=tmp_path / "image", env={"PYTHONPATH": ""})
    assert result.require().stdout.strip() == b"['entry']"


def test_a_change_of_an_extension_makes_another_image(settings: Settings, tmp_path: Path) -> None:
    def digest(chosen: Settings) -> object:
        recipe = controller_recipe(chosen)
        files = {name: path for name, path in recipe.files.items() if "extensions" in name}
        return DockerRecipe("controller", "1", files).inputs()

    before = digest(settings)
    assert before != digest(settings.model_copy(update={"extensions": ""}))
    (tmp_path / "outside" / "shop_for_tests" / "more.py").touch()
    assert digest(settings) != before


def test_extensions_of_this_project_are_not_copied_twice(settings: Settings) -> None:
    own = settings.model_copy(update={"extensions": "provisioning.registry:KINDS"})
    assert not [name for name in controller_recipe(own).files if "extensions" in name]


def test_containers_get_the_list_of_extensions(settings: Settings, tmp_path: Path) -> None:
    path, received = tmp_path / "environment.json", dict[str, str]()
    write_environment(path, {"MESOCOSM_EXTENSIONS": settings.extensions})
    load_environment(path, received)
    assert received == {"MESOCOSM_EXTENSIONS": "shop_for_tests:TABLE"}
