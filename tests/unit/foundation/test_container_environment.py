from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from foundation.container_environment import load_environment, write_environment
from foundation.errors import SettingsError

if TYPE_CHECKING:
    from pathlib import Path

KEY = "MESOCOSM_MODEL_API_KEY"


def taken(path: Path, **already: str) -> dict[str, str]:
    load_environment(path, already)
    return already


def test_only_settings_keys_and_proxies_are_passed_to_containers(tmp_path: Path) -> None:
    path = tmp_path / "service" / "environment.json"
    assert taken(path) == {}
    given = {KEY: "sk-1", "MESOCOSM_DESKTOP": "vm", "https_proxy": "http://proxy:3128"}
    foreign = {"HOME": "/root", "MESOCOSM_TEST_TIER": "nightly", "MESOCOSM_TOKEN": "t"}
    write_environment(path, given | foreign | {"MESOCOSM_STATE_DIR": "/elsewhere"})
    assert taken(path) == given
    assert path.stat().st_mode & 0o777 == 0o600
    assert taken(path, MESOCOSM_DESKTOP="container")["MESOCOSM_DESKTOP"] == "container"


def test_keys_persist_until_emptied_and_other_settings_are_replaced(
    tmp_path: Path,
) -> None:
    path = tmp_path / "environment.json"
    write_environment(
        path, {KEY: "sk-1", "MESOCOSM_MODEL_NAME": "one", "MESOCOSM_DESKTOP": "container"}
    )
    write_environment(path, {})
    assert taken(path) == {KEY: "sk-1", "MESOCOSM_MODEL_NAME": "one"}
    written = path.stat().st_mtime_ns
    write_environment(path, {})
    write_environment(path, {KEY: "sk-1"})
    assert path.stat().st_mtime_ns == written
    write_environment(path, {KEY: "", "MESOCOSM_MODEL_NAME": "two"})
    assert taken(path) == {"MESOCOSM_MODEL_NAME": "two"}


def test_error_names_the_damaged_file(tmp_path: Path) -> None:
    path = tmp_path / "environment.json"
    path.write_text("{")
    with pytest.raises(SettingsError, match="is damaged") as caught:
        load_environment(path, {})
    assert "sk-" not in str(caught.value)
