"""The command ``mesocosm suite import``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from appliance.cli.main import main
from tests.standins.foreign_tasks import CALL, CLOUD, MAPS, crab, osworld

if TYPE_CHECKING:
    from pathlib import Path

_WHOLE = crab((CALL, {"number": "0445550199"}), name="whole")
_REFUSED = crab((MAPS, {"number": "8000", "country": "Erewhon"}), name="refused")


def _folder(tmp_path: Path, *contents: dict[str, object]) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    for content in contents:
        (folder / f"{content['id']}.json").write_text(json.dumps(content))
    return folder


def test_a_suite_and_what_was_not_carried_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    source = _folder(tmp_path, _WHOLE, _REFUSED)
    suite = tmp_path / "my-suite"
    assert main(["suite", "import", str(source), "--to", str(suite)]) == 0
    shown = capsys.readouterr()
    assert "refused   refused.json" in shown.out
    assert "network: Find the city of a post code: " in shown.out
    assert "whole     whole.json" in shown.out
    assert "needs the live Internet" in shown.out
    assert "2 files written" in shown.err
    assert main(["suite", "show", str(suite)]) == 0
    assert "my-suite" in capsys.readouterr().out


@pytest.mark.parametrize("is_strict", [False, True])
def test_strict_demands_that_all_is_whole(
    is_strict: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = _folder(tmp_path, _WHOLE, _REFUSED)
    options = ["--strict"] if is_strict else []
    assert main(["suite", "import", str(source), "--json", *options]) == int(is_strict)
    report = json.loads(capsys.readouterr().out)
    assert report["counts"] == {"whole": 1, "in part": 0, "refused": 1, "bad": 0}
    assert report["reasons"] == {"network": 1}
    assert [row["file"] for row in report["files"]] == ["refused.json", "whole.json"]
    assert report["files"][1] == {
        "file": "whole.json",
        "benchmark": "crab",
        "status": "whole",
        "task": "whole",
        "reasons": [],
        "notes": [],
    }


def test_strict_is_content_with_whole_files(tmp_path: Path) -> None:
    assert main(["suite", "import", str(_folder(tmp_path, _WHOLE)), "--strict"]) == 0


def test_nothing_imported_is_a_failure(tmp_path: Path) -> None:
    assert main(["suite", "import", str(_folder(tmp_path, _REFUSED))]) == 1


def test_files_of_the_user(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = osworld(
        "check_slide_orientation_Portrait",
        result={"type": "vm_file", "path": "/home/user/a.pptx", "dest": "a.pptx"},
        config=[
            {
                "type": "download",
                "parameters": {
                    "files": [{"url": f"{CLOUD}impress/a.pptx", "path": "/home/user/a.pptx"}]
                },
            }
        ],
    )
    source = _folder(tmp_path, content)
    files = tmp_path / "files"
    (files / "impress").mkdir(parents=True)
    (files / "impress/a.pptx").write_bytes(b"slides")
    assert main(["suite", "import", str(source)]) == 1
    command = ["suite", "import", str(source), "--files", str(files), "--to", str(tmp_path / "s")]
    assert main(command) == 0
    assert (tmp_path / "s/files/one/a.pptx").read_bytes() == b"slides"
    capsys.readouterr()


def test_a_missing_source_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["suite", "import", str(tmp_path / "none")]) == 2
    assert "has no file of the kind .json" in capsys.readouterr().err
