from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from appliance.base.errors import SettingsError
from appliance.base.handed_environment import hand_over, take_over

if TYPE_CHECKING:
    from pathlib import Path

KEY = "MESOCOSM_MODEL_API_KEY"


def taken(path: Path, **already: str) -> dict[str, str]:
    take_over(path, already)
    return already


def test_settings_keys_and_proxies_are_handed_over_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "service" / "environment.json"
    assert taken(path) == {}
    given = {KEY: "sk-1", "MESOCOSM_DESKTOP": "vm", "https_proxy": "http://proxy:3128"}
    foreign = {"HOME": "/root", "MESOCOSM_TEST_TIER": "nightly", "MESOCOSM_TOKEN": "t"}
    hand_over(path, given | foreign | {"MESOCOSM_STATE_DIR": "/elsewhere"})
    assert taken(path) == given
    assert path.stat().st_mode & 0o777 == 0o600
    assert taken(path, MESOCOSM_DESKTOP="container")["MESOCOSM_DESKTOP"] == "container"


def test_keys_stay_until_they_are_emptied_and_other_settings_are_those_of_the_last_command(
    tmp_path: Path,
) -> None:
    path = tmp_path / "environment.json"
    hand_over(path, {KEY: "sk-1", "MESOCOSM_MODEL_NAME": "one", "MESOCOSM_DESKTOP": "container"})
    hand_over(path, {})
    assert taken(path) == {KEY: "sk-1", "MESOCOSM_MODEL_NAME": "one"}
    written = path.stat().st_mtime_ns
    hand_over(path, {})
    hand_over(path, {KEY: "sk-1"})
    assert path.stat().st_mtime_ns == written
    hand_over(path, {KEY: "", "MESOCOSM_MODEL_NAME": "two"})
    assert taken(path) == {"MESOCOSM_MODEL_NAME": "two"}


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "environment.json"
    path.write_text("{")
    with pytest.raises(SettingsError, match="is damaged") as caught:
        take_over(path, {})
    assert "sk-" not in str(caught.value)
