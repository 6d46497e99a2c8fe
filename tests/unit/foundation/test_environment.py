from __future__ import annotations

import pytest
from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from foundation.environment import (
    EnvironmentSettings,
    known_variables,
    require_known,
    shown,
    variables,
)
from foundation.errors import SettingsError


class Lamp(EnvironmentSettings):
    model_config = SettingsConfigDict(env_prefix="MESOCOSM_LAMP_")

    watts: int = Field(default=5, ge=1)
    colour: str = "white"
    key: SecretStr = Field(default=SecretStr("secret"), min_length=3)


KNOWN = known_variables([Lamp], ["MESOCOSM_OTHER"])


def test_variables_carry_the_prefix_of_their_class() -> None:
    assert variables(Lamp) == ["MESOCOSM_LAMP_WATTS", "MESOCOSM_LAMP_COLOUR", "MESOCOSM_LAMP_KEY"]


def test_all_wrong_values_are_reported_at_once_without_secrets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MESOCOSM_LAMP_WATTS", "0")
    monkeypatch.setenv("MESOCOSM_LAMP_KEY", "ab")
    with pytest.raises(SettingsError) as caught:
        Lamp()
    lines = caught.value.details.splitlines()
    assert lines[0] == "MESOCOSM_LAMP_WATTS=0: input should be greater than or equal to 1."
    assert lines[1].startswith("MESOCOSM_LAMP_KEY: ")
    assert caught.value.exit_code == 2


def test_known_foreign_and_test_names_are_accepted_in_any_case() -> None:
    names = ["MESOCOSM_LAMP_WATTS", "mesocosm_lamp_colour", "MESOCOSM_TEST_TIER", "MESOCOSM_OTHER"]
    require_known(KNOWN, dict.fromkeys([*names, "PATH", "MESO"], "1"))


def test_unknown_name_is_rejected_with_nearest_match() -> None:
    with pytest.raises(SettingsError) as caught:
        require_known(KNOWN, {"MESOCOSM_LAMP_COLOR": "red", "MESOCOSM_Q": "1"})
    assert caught.value.details.splitlines() == [
        "MESOCOSM_LAMP_COLOR: did you mean MESOCOSM_LAMP_COLOUR?",
        "MESOCOSM_Q: no setting has a similar name.",
    ]


def test_password_in_address_is_masked() -> None:
    assert shown("https://ann:pass@host/v1") == "https://***@host/v1"
    assert shown(None) == ""
