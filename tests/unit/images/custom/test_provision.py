"""Layers of an image: what determines their keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from images.custom.folder import read_folder
from images.custom.provision import layers_of

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "schema_version: 1\nname: paint\nextends: debian-12\n"
STEPS = "steps:\n" + "".join(f"  - run: echo {number}\n" for number in range(9))
FILE = "  - files: [{from: a.txt, to: /home/user/Documents/a b.txt}]\n"


def keys(folder: Path, text: str) -> list[str]:
    (folder / "image.yaml").write_text(HEAD + text)
    read = read_folder(folder)
    found = ["tree"]
    for layer in layers_of(read.path, read.content):
        found.append(layer.key(found[-1]))
    return found


def test_a_further_package_costs_one_layer(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("1")
    before = keys(tmp_path, STEPS + FILE)
    after = keys(tmp_path, f"{STEPS}{FILE}  - packages: [vim]\n")
    assert after[: len(before)] == before
    assert len(after) == len(before) + 1


def test_the_content_of_a_file_counts_from_its_step_on(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("1")
    text = f"{STEPS}{FILE}  - packages: [vim]\n"
    before = keys(tmp_path, text)
    (tmp_path / "a.txt").write_text("2")
    after = keys(tmp_path, text)
    same = [one == other for one, other in zip(before, after, strict=True)]
    assert same == [True] * 10 + [False] * 2


def test_what_is_not_part_of_the_tree_changes_no_layer(tmp_path: Path) -> None:
    before = keys(tmp_path, STEPS)
    (tmp_path / "test_it.py").write_text("def test_it(host): ...\n")
    (tmp_path / "notes.txt").write_text("unused")
    more = "description: x\nmachine: {memory_mib: 2048}\nsession: {ready: [{process: x}]}\n"
    assert keys(tmp_path, STEPS + more) == before


def test_locale_comes_first_and_programs_at_the_start_last(tmp_path: Path) -> None:
    text = f"{STEPS}locale: de_DE\nsession: {{start: ['mtpaint \"%d\" $HOME/a']}}\n"
    (tmp_path / "image.yaml").write_text(HEAD + text)
    read = read_folder(tmp_path)
    layers = layers_of(read.path, read.content)
    assert layers[0].label == "system: de_DE"
    assert layers[-1].label.startswith("start: mtpaint")
    assert "locale-gen" in layers[0].script
    assert "%%d" in layers[-1].script
