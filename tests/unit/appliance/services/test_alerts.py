"""Receivers of alerts: accepted settings, the written configuration, and what is shown of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml

from appliance.services.alerts import (
    AlertSettings,
    describe_receivers,
    expected_config,
    read_receivers,
    write_config,
    written_config,
)
from foundation.errors import SettingsError
from foundation.settings import Settings
from monitoring.alertmanager import MailServer, Receivers

if TYPE_CHECKING:
    from pathlib import Path

WEBHOOK = "https://hooks.example.org/services/secret"
SET = {
    "MESOCOSM_ALERT_WEBHOOK": WEBHOOK,
    "MESOCOSM_ALERT_MAIL_TO": "a@example.org,b@example.org",
    "MESOCOSM_MAIL_HOST": "mail.example.org",
    "MESOCOSM_MAIL_USER": "bench",
    "MESOCOSM_MAIL_PASSWORD": "secret",
}


def use(patch: pytest.MonkeyPatch, **variables: str) -> None:
    for name, value in variables.items():
        patch.setenv(name, value)


def test_default_settings_have_no_receivers() -> None:
    assert read_receivers() == Receivers()
    assert describe_receivers(expected_config()) == []
    (receiver,) = yaml.safe_load(expected_config())["receivers"]
    assert list(receiver) == ["name"]


def test_receivers_are_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, **SET)
    server = MailServer("mail.example.org", 25, "mesocosm@localhost", "bench", "secret")
    assert read_receivers() == Receivers(WEBHOOK, "a@example.org, b@example.org", server)


def test_receiver_descriptions_hold_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, **SET)
    shown = describe_receivers(expected_config())
    assert shown == [
        "webhook at hooks.example.org",
        "mail to a@example.org, b@example.org by mail.example.org:25",
    ]
    assert WEBHOOK not in repr(AlertSettings())


def test_configuration_is_readable_by_its_container_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(state_dir=tmp_path)
    assert written_config(settings) == ""
    write_config(settings)
    assert describe_receivers(written_config(settings)) == []
    use(monkeypatch, **SET)
    assert "auth_password: secret" in write_config(settings)
    assert written_config(settings) == expected_config()
    (file,) = (tmp_path / "alertmanager/config").iterdir()
    assert file.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MESOCOSM_ALERT_WEBHOOK", "ftp://hooks.example.org"),
        ("MESOCOSM_ALERT_WEBHOOK", "hooks.example.org"),
        ("MESOCOSM_ALERT_WEBHOOK", "https://"),
        ("MESOCOSM_ALERT_MAIL_TO", "bench"),
        ("MESOCOSM_ALERT_MAIL_TO", "a@example.org, @"),
        ("MESOCOSM_ALERT_MAIL_TO", "a@example.org\nBcc: b@example.org"),
    ],
)
def test_wrong_addresses_are_rejected(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, **{name: value})
    with pytest.raises(SettingsError) as caught:
        AlertSettings()
    assert name in caught.value.brief


def test_mail_without_a_server_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, MESOCOSM_ALERT_MAIL_TO="a@example.org")
    with pytest.raises(SettingsError, match="no mail server") as caught:
        read_receivers()
    assert "MESOCOSM_MAIL_HOST" in caught.value.resolution


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.1.2.3", "[::1]"])
def test_loopback_receiver_is_rejected(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, MESOCOSM_ALERT_WEBHOOK=f"http://{host}:8080/hook")
    with pytest.raises(SettingsError, match="cannot use") as caught:
        read_receivers()
    assert "MESOCOSM_ALERT_WEBHOOK" in caught.value.brief
    use(monkeypatch, MESOCOSM_ALERT_WEBHOOK="", MESOCOSM_MAIL_HOST=host.strip("[]"))
    assert read_receivers() == Receivers()
    use(monkeypatch, MESOCOSM_ALERT_MAIL_TO="a@example.org")
    with pytest.raises(SettingsError, match="MESOCOSM_MAIL_HOST is"):
        read_receivers()
