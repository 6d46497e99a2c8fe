"""Tests of builds on a real Docker engine; the base image is built from the host's archive."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import uuid
from typing import TYPE_CHECKING

import pytest
from docker.errors import ImageNotFound, NotFound

from appliance.bringup.prune import Pruner
from appliance.cli.main import main
from foundation.errors import ImageBuildError, ImageCorruptError
from foundation.settings import Settings
from images.base.recipe import BaseRecipe
from images.builder import Builder, check_image
from images.dockerfile import DockerRecipe
from images.engine import connect, find_image
from images.manifest import read_manifest
from images.store import has_leftovers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from images.recipe import Image, Recipe

pytestmark = [pytest.mark.docker, pytest.mark.slow]


def _small_recipe(folder: Path, dockerfile: str) -> DockerRecipe:
    (folder / "Dockerfile").write_text(dockerfile)
    (folder / "hello.txt").write_text("hello\n")
    files = {name: folder / name for name in ("Dockerfile", "hello.txt")}
    return DockerRecipe(name="test-small", variant="one", files=files)


@pytest.fixture
def builder(base: Image, tmp_path: Path) -> Iterator[Builder]:
    """Return a builder with a separate state folder, a small recipe and the appliance's base image."""
    content = (
        "ARG BASE\nFROM ${BASE}\nCOPY hello.txt /hello.txt\n"
        "RUN cat /hello.txt && test -s /etc/os-release\n"
    )
    recipe = _small_recipe(tmp_path, content)

    def make(name: str, settings: Settings) -> Recipe:
        return recipe if name == recipe.name else BaseRecipe(settings)

    state = tmp_path / "state"
    (state / "images").mkdir(parents=True)
    (state / "images" / "base").symlink_to(base.path.parent)
    made = Builder(Settings(state_dir=state), make=make)
    yield made
    with connect() as client:
        for image in client.images.list("mesocosm/test-small"):
            client.images.remove(str(image.id), force=True)


def test_base_runs_and_its_packages_are_known(base: Image) -> None:
    manifest = read_manifest(base.path)
    assert manifest.packages["bash"]
    assert manifest.packages["ca-certificates"]
    assert manifest.notes["origin"]
    with connect() as client:
        shown = client.containers.run(base.tag or "", "cat /etc/os-release", remove=True)
    vendor, version = manifest.variant.split("-")
    assert f'VERSION_ID="{version}"'.encode() in shown
    assert f"ID={vendor}".encode() in shown


def test_dockerfile_is_built_on_the_base_and_tagged(builder: Builder) -> None:
    image = builder.ensure("test-small")
    assert image.tag is not None
    assert image.tag.startswith(f"mesocosm/test-small:{image.digest[:12]}-")
    with connect() as client:
        shown = client.containers.run(image.tag, "cat /hello.txt", remove=True)
    assert shown == b"hello\n"
    assert read_manifest(image.path).packages["bash"]


def test_lost_tag_is_restored_and_a_lost_image_rebuilt(builder: Builder) -> None:
    image = builder.ensure("test-small")
    with connect() as client:
        client.images.get(image.tag or "").tag("mesocosm/test-small", "kept")
        client.images.remove(image.tag or "")
        assert builder.find("test-small") == image
        assert find_image(client, image.tag or "")
        client.images.remove("mesocosm/test-small:kept")
        client.images.remove(image.tag or "", force=True)
        again = builder.ensure("test-small")
        assert find_image(client, again.tag or "")


def test_tag_of_another_image_is_corrupt(builder: Builder, base: Image) -> None:
    image = builder.ensure("test-small")
    repository, _, tag = (image.tag or "").partition(":")
    with connect() as client:
        client.images.get(base.tag or "").tag(repository, tag)
    with pytest.raises(ImageCorruptError, match="was replaced after the build"):
        check_image(image.path, read_manifest(image.path), thorough=False)
    assert builder.ensure("test-small", repair=True).recipe_digest == image.recipe_digest
    check_image(image.path, read_manifest(image.path), thorough=True)


def test_old_docker_image_is_removed_once_no_container_uses_it(base: Image, tmp_path: Path) -> None:
    """Use a small recipe with a name of the appliance, because images with other names are not pruned."""
    content = f"ARG BASE\nFROM ${{BASE}}\nRUN echo {uuid.uuid4()} > /mark\n"
    small = dataclasses.replace(_small_recipe(tmp_path, content), name="phone")
    state = tmp_path / "state"
    (state / "images").mkdir(parents=True)
    (state / "images" / "base").symlink_to(base.path.parent)
    builder = Builder(
        Settings(state_dir=state),
        make=lambda name, settings: small if name == "phone" else BaseRecipe(settings),
    )
    old = builder.ensure("phone")
    (tmp_path / "Dockerfile").write_text(content + "RUN true\n")
    new = builder.ensure("phone")
    assert old.tag is not None
    assert new.tag is not None
    with connect() as client, Pruner(builder.settings, ["phone"], make=builder.make) as pruner:
        container = client.containers.create(old.tag, name=f"prune-{uuid.uuid4()}")
        try:
            old_images = pruner.find()
            assert [image.kept for image in old_images] == [f"container {container.name}"]
            # The engine also refuses it if it is requested as an unused image.
            asked = dataclasses.replace(old_images[0], kept="", manifest=None)
            assert "container" in pruner.remove([asked], print)[0].kept
            assert find_image(client, old.tag)
            container.remove()
            old_images = pruner.find()
            assert [(image.docker_tag, image.kept) for image in old_images] == [(old.tag, "")]
            assert old_images[0].size_bytes > 1 << 20
            old.path.rename(old.path.parent / ".aside")  # like one of another state folder
            pruner.untracked = True
            strangers = [image for image in pruner.find() if image.docker_tag in {old.tag, new.tag}]
            assert [(image.docker_tag, image.kept) for image in strangers] == [(old.tag, "")]
            pruner.remove(strangers, print)
            assert find_image(client, old.tag) is None
            assert find_image(client, new.tag)
        finally:
            with contextlib.suppress(NotFound):
                container.remove(force=True)
            for tag in (old.tag, new.tag):
                with contextlib.suppress(ImageNotFound):
                    client.images.remove(tag, force=True)
    assert not old.path.exists()


def test_failing_step_shows_its_output_and_leaves_nothing(builder: Builder, tmp_path: Path) -> None:
    _small_recipe(tmp_path, "ARG BASE\nFROM ${BASE}\nRUN echo the cause >&2; exit 7\n")
    with connect() as client:
        base = client.images.get(builder.find("base").tag or "").id

        def steps() -> set[str]:
            return {row["Id"] for row in client.api.containers(all=True) if row["ImageID"] == base}

        before = steps()
        with pytest.raises(ImageBuildError, match="the cause") as caught:
            builder.ensure("test-small")
        after = steps()
    assert "Full log:" in caught.value.details
    assert after <= before
    assert not has_leftovers(builder.settings.images_dir, "test-small")


def test_command_lists_and_verifies(base: Image, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["image", "build", "base", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["images"]
    assert row["digest"] == base.digest
    assert main(["image", "list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["images"]
    assert any(image["digest"] == base.digest for image in listed)
    assert main(["image", "verify", "base", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ok"] is True
    assert main(["image", "verify", "bsae"]) == 2
    assert "Did you mean 'base'" in capsys.readouterr().err
