from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from controller.models.key_file import read_key
from controller.models.specification import read_settings, specify_model
from foundation.errors import SettingsError

if TYPE_CHECKING:
    from pathlib import Path


def make(path: Path, text: str, mode: int = 0o600) -> Path:
    path.write_text(text)
    path.chmod(mode)
    return path


def test_key_is_read_from_a_file_of_ones_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make(tmp_path / "key", "sk-in-a-file\n")
    assert read_key(path).get_secret_value() == "sk-in-a-file"
    monkeypatch.setenv("MESOCOSM_MODEL_API_KEY_FILE", str(path))
    settings = read_settings(name="m", base_url="http://host/v1")
    assert settings.secrets() == {"sk-in-a-file"}
    assert "sk-in-a-file" not in repr(settings)
    assert "sk-in-a-file" not in specify_model(settings, "").model_dump_json()
    monkeypatch.setenv("MESOCOSM_MODEL_API_KEY", "sk-of-the-environment")
    assert read_settings(name="m").secrets() == {"sk-of-the-environment"}


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o620, 0o660])
def test_file_that_others_may_access_is_refused(tmp_path: Path, mode: int) -> None:
    path = make(tmp_path / "key", "sk-in-a-file", mode)
    with pytest.raises(SettingsError, match="others may access") as caught:
        read_key(path)
    assert "chmod 600" in caught.value.resolution
    assert "sk-in" not in str(caught.value)


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read"):
        read_key(tmp_path / "none")
    with pytest.raises(SettingsError, match="cannot be read"):
        read_key(tmp_path)
    with pytest.raises(SettingsError, match="empty"):
        read_key(make(tmp_path / "empty", " \n"))
