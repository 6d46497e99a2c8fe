from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from appliance.cli import main as cli
from appliance.cli.settings import OTHERS, sections
from foundation.settings_reference import describe, render_page

REPOSITORY = Path(__file__).resolve().parents[4]


def test_page_is_up_to_date() -> None:
    page = (REPOSITORY / "docs/settings.md").read_text(encoding="utf-8")
    assert page == render_page(sections(), OTHERS), "run `make settings-page`"


def test_every_settings_class_is_on_the_page() -> None:
    defined = {
        node.name
        for package in (
            "foundation",
            "appliance",
            "images",
            "provisioning",
            "evaluators",
            "monitoring",
            "controller",
        )
        for path in (REPOSITORY / package).rglob("*.py")
        if "EnvironmentSettings)" in (text := path.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ClassDef)
        and any(
            isinstance(base, ast.Name) and base.id == "EnvironmentSettings" for base in node.bases
        )
    }
    assert defined == {settings.__name__ for settings in sections().values()}


def test_every_setting_has_a_purpose() -> None:
    rows = [row for settings in sections().values() for row in describe(settings)]
    assert [row.name for row in rows if len(row.purpose) < 10] == []
    assert [row.name for row in rows if row.is_secret] == [
        "MESOCOSM_MODEL_API_KEY",
        "MESOCOSM_ALERT_WEBHOOK",
        "MESOCOSM_MAIL_PASSWORD",
    ]


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("MESOCOSM_DESKTPO", "vm", "MESOCOSM_DESKTPO: did you mean MESOCOSM_DESKTOP?"),
        ("MESOCOSM_PHONE", "nokia", "MESOCOSM_PHONE=nokia: input should be 'reference' or"),
        ("MESOCOSM_MODEL_RETRIES", "often", "MESOCOSM_MODEL_RETRIES=often: input should be a"),
    ],
)
def test_wrong_environment_is_rejected_by_every_command_but_help(
    name: str,
    value: str,
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(name, value)
    assert cli.main(["results", "latest"]) == 2
    assert expected in capsys.readouterr().err
    assert cli.main(["results", "--help"]) == 0


def test_values_are_listed_with_their_source(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MESOCOSM_DESKTOP", "container")
    monkeypatch.setenv("MESOCOSM_MODEL_API_KEY", "very-secret")
    assert cli.main(["settings", "--json"]) == 0
    text = capsys.readouterr().out
    rows = {row["name"]: row for row in json.loads(text)}
    assert (rows["MESOCOSM_DESKTOP"]["value"], rows["MESOCOSM_DESKTOP"]["is_set"]) == (
        "container",
        True,
    )
    assert not rows["MESOCOSM_PHONE"]["is_set"]
    assert "very-secret" not in text
    assert cli.main(["settings"]) == 0
    assert "MESOCOSM_DESKTOP " in capsys.readouterr().out
