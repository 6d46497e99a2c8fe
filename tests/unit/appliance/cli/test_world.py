"""``mesocosm world`` from its arguments to its exit code."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from appliance.cli.main import main
from foundation.settings import get_settings
from provisioning.world.persona.persona import persona

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def state_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("MESOCOSM_STATE_DIR", str(tmp_path))
    get_settings.cache_clear()
    yield
    get_settings.cache_clear()


def test_a_person_is_shown_in_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["world", "show", "--seed", "7"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{persona(7).person.name}, seed 7"
    assert max(map(len, lines)) <= 80
    assert any(persona(7).orders.last().number in line for line in lines)


@pytest.mark.slow
def test_a_person_is_printed_whole_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["world", "show", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["digest"] == persona(0).digest
    assert shown["seed"] == 0
    assert len(shown["mails"]) == len(persona(0).mails)
    assert shown["mails"][0]["sent"].endswith("Z")


def test_a_seed_out_of_range_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["world", "show", "--seed", "-1"]) == 2
    assert "-1 is not the seed of a persona." in capsys.readouterr().err
