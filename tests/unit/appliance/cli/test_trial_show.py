from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from appliance.cli import main as cli
from foundation.settings import get_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

TINY = Path(__file__).resolve().parents[3] / "suites/tiny"


@pytest.fixture(autouse=True)
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("MESOCOSM_STATE_DIR", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    get_settings.cache_clear()
    assert cli.main(["run", str(TINY), "--fleet", "fake", "--agent", "oracle"]) == 0
    yield
    get_settings.cache_clear()


def shown(capsys: pytest.CaptureFixture[str], *options: str) -> str:
    capsys.readouterr()
    assert cli.main(["trial", "show", "latest", "write-file", *options]) == 0
    return capsys.readouterr().out


@pytest.mark.slow
def test_steps_are_shown_with_their_pictures(capsys: pytest.CaptureFixture[str]) -> None:
    plain = shown(capsys).splitlines()
    steps: list[Any] = json.loads(shown(capsys, "--json"))["steps"]
    assert [step["kind"] for step in steps][:2] == ["start", "step"]
    assert plain[0] == "0 start"
    assert plain[-1].endswith("end - PASS success")
    assert any("type_text on desktop" in line for line in plain)
    assert any("met: " in line for line in plain)

    with_pictures = shown(capsys, "--pictures").splitlines()

    files = [line.partition("desktop: ")[2] for line in with_pictures if "desktop: /" in line]
    assert len(files) == len(steps)
    assert all(Path(name).read_bytes().startswith(b"\x89PNG") for name in files)
    assert [line for line in with_pictures if "desktop: /" not in line] == plain


@pytest.mark.slow
def test_trial_is_named_as_in_results(capsys: pytest.CaptureFixture[str]) -> None:
    plain = shown(capsys)
    for args in (["write-file.0"], ["write-file.0", "--repeat", "0"]):
        assert cli.main(["trial", "show", "latest", *args]) == 0
        assert capsys.readouterr().out == plain


@pytest.mark.slow
def test_removed_picture_is_marked(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for picture in tmp_path.glob("runs/*/blobs/*.png"):
        picture.unlink()
    assert ".png (missing)" in shown(capsys, "--pictures")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["no-such"], "no-such"),
        (["no-such.0"], "no-such"),
        (["write-file", "--repeat", "7"], "was not started"),
        (["write-file.7"], "write-file.7"),
        (["write-file.1", "--repeat", "0"], "is repeat 1, and --repeat is 0"),
    ],
)
def test_unknown_trial_is_a_usage_error(
    args: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["trial", "show", "latest", *args]) == 2
    assert message in capsys.readouterr().err
