from __future__ import annotations

import json
from typing import TYPE_CHECKING

from appliance.cli import main as cli
from foundation.settings import get_settings

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

HEAD = "schema_version: 1\nname: paint\nextends: debian-12\n"


def write(folder: Path, text: str) -> str:
    (folder / "image.yaml").write_text(text)
    return str(folder)


def test_a_valid_image_is_described(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write(tmp_path, f"{HEAD}steps:\n  - run: echo 1\n")
    assert cli.main(["image", "check", folder]) == 0
    assert "paint → debian-12: 1 steps, 0 files of tests." in capsys.readouterr().err
    assert cli.main(["image", "check", folder, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["ok"], shown["name"], shown["steps"]) == (True, "paint", ["run: echo 1"])


def test_errors_are_printed_with_file_and_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write(tmp_path, f"{HEAD}step: []\n")
    assert cli.main(["image", "check", folder]) == 2
    assert "image.yaml:4: There is no key 'step' here." in capsys.readouterr().err
    assert cli.main(["image", "check", folder, "--json"]) == 2
    (error,) = json.loads(capsys.readouterr().out)["errors"]
    assert error["brief"].endswith(
        "image.yaml:4: There is no key 'step' here. Did you mean 'steps'?"
    )


def test_packages_are_compared_with_the_lists_of_the_parent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lists = get_settings().images_dir / "packages/debian-12/names.txt"
    lists.parent.mkdir(parents=True, exist_ok=True)
    lists.write_text("mtpaint\nvim\n")
    folder = write(tmp_path, f"{HEAD}steps:\n  - packages: [vim, mtpant]\n")
    assert cli.main(["image", "check", folder]) == 2
    error = capsys.readouterr().err
    assert "image.yaml:5: the distribution has no package 'mtpant'." in error
    assert "Did you mean 'mtpaint'?" in error


def test_a_missing_folder_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["image", "check", "/nowhere"]) == 2
    assert "/nowhere is not the folder of an image." in capsys.readouterr().err
