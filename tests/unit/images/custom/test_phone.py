"""Declarations of images of phones: errors with file and line, layers of parents, digests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from foundation.errors import SpecError
from foundation.settings import REPOSITORY, Settings
from images.custom.phone import (
    PhoneProduct,
    copy_for_build,
    find_phone_image,
    is_phone_folder,
    make_current,
    phone_image_names,
    read_phone_image,
    require_supported,
)

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLE = REPOSITORY / "examples/images/pocket"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(state_dir=tmp_path / "state")


def write(folder: Path, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "image.yaml").write_text(text)
    return folder


def register(folder: Path, settings: Settings) -> None:
    image = read_phone_image(folder, settings)
    product = PhoneProduct(
        base="b", backend="reference-phone", digest=image.digest("b"), built_at="", seconds=0
    )
    make_current(copy_for_build(image, settings), product)


@pytest.mark.parametrize(
    ("steps", "line", "text"),
    [
        ("- file: [x]", 5, "file"),
        ("- files: [{from: a, to: /etc/x}]", 5, "is not below one of"),
        ("- files: [{from: ../a, to: /sdcard/x}]", 5, "relative path inside"),
        ("- files: [{from: a, to: /sdcard/../etc/x}]", 5, "not an absolute path"),
        ("- files: [{from: listt.txt, to: /sdcard/x}]", 5, "There is no listt.txt"),
        ("- settings: {systm: {a: 1}}", 5, "systm"),
        ("- rows: [{uri: 'http://x', values: {a: 1}}]", 5, "uri"),
        ("- rows: [{uri: 'content://x', values: {}}]", 5, "values"),
        ("- {title: nothing}", 5, "exactly one of"),
        ("- {contacts: [{name: a}], rows: [{uri: 'content://x', values: {a: 1}}]}", 5, "exactly"),
    ],
)
def test_an_error_names_file_and_line(
    tmp_path: Path, settings: Settings, steps: str, line: int, text: str
) -> None:
    folder = tmp_path / "image"
    folder.mkdir()
    (folder / "list.txt").write_text("x")
    (folder / "a").write_text("x")
    write(folder, f"schema_version: 1\nname: x\nextends: phone\nsteps:\n  {steps}\n")
    with pytest.raises(SpecError) as caught:
        read_phone_image(folder, settings)
    message = f"{caught.value.brief} {caught.value.details} {caught.value.resolution}"
    assert f"image.yaml:{line}" in message
    assert text in message


def test_the_example_is_an_image_of_a_phone(settings: Settings) -> None:
    assert is_phone_folder(EXAMPLE, settings)
    assert not is_phone_folder(REPOSITORY / "examples/images/paint", settings)
    image = read_phone_image(EXAMPLE, settings)
    assert [layer.step.action for layer in image.layers] == [
        "contacts",
        "rows",
        "settings",
        "files",
    ]
    require_supported(image, "reference-phone")


def test_layers_of_the_parent_come_first_and_a_cycle_is_refused(
    tmp_path: Path, settings: Settings
) -> None:
    register(EXAMPLE, settings)
    folder = write(
        tmp_path / "child",
        "schema_version: 1\nname: child\nextends: pocket\nsteps:\n  - settings: {global: {a: 1}}\n",
    )
    assert is_phone_folder(folder, settings)
    image = read_phone_image(folder, settings)
    assert image.lineage == ("child", "pocket", "phone")
    assert [layer.step.action for layer in image.layers][-2:] == ["files", "settings"]
    register(folder, settings)
    cycle = write(tmp_path / "cycle", "schema_version: 1\nname: pocket\nextends: child\n")
    with pytest.raises(SpecError, match="extends itself"):
        read_phone_image(cycle, settings)
    own = write(tmp_path / "own", "schema_version: 1\nname: own\nextends: own\n")
    with pytest.raises(SpecError, match="extends itself"):
        read_phone_image(own, settings)


def test_a_parents_apk_is_refused_on_the_reference_phone(
    tmp_path: Path, settings: Settings
) -> None:
    text = "schema_version: 1\nname: a\nextends: phone\nsteps:\n  - accounts: [{name: x}]\n"
    register(write(tmp_path / "a", text), settings)
    child = write(tmp_path / "b", "schema_version: 1\nname: b\nextends: a\n")
    image = read_phone_image(child, settings)
    require_supported(image, "android-emulator")
    with pytest.raises(SpecError, match=r"image.yaml:3: Its parent has accounts"):
        require_supported(image, "reference-phone")


def test_the_digest_follows_content_and_base_but_not_titles(
    tmp_path: Path, settings: Settings
) -> None:
    text = "schema_version: 1\nname: a\nextends: phone\nsteps:\n  - files: [{from: f, to: /sdcard/f}]\n"
    folder = write(tmp_path / "a", text)
    (folder / "f").write_text("1")
    first = read_phone_image(folder, settings)
    digest = first.digest("b")
    assert digest != first.digest("c")
    write(folder, text.replace("- files", "- title: copy\n    files"))
    assert read_phone_image(folder, settings).digest("b") == digest
    (folder / "f").write_text("2")
    assert read_phone_image(folder, settings).digest("b") != digest


def test_a_built_image_is_found_by_name_and_its_state_only_on_the_same_base(
    settings: Settings,
) -> None:
    register(EXAMPLE, settings)
    assert phone_image_names(settings) == ["pocket"]
    image = find_phone_image("pocket", settings)
    assert image is not None
    assert find_phone_image("packet", settings) is None
    assert image.state("b", "reference-phone") is None
    (image.path / "state").mkdir()
    assert image.state("b", "reference-phone") == image.path / "state"
    assert image.state("c", "reference-phone") is None
    assert image.state("b", "android-emulator") is None
