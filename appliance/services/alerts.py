"""Receivers of alerts: read from the settings, written for Alertmanager's container."""

from __future__ import annotations

import ipaddress
import os
import socket
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import yaml
from pydantic import SecretStr, field_validator
from pydantic_settings import SettingsConfigDict

from foundation.environment import EnvironmentSettings
from foundation.errors import SettingsError
from foundation.files import write_atomic
from monitoring.alertmanager import MailServer, Receivers, render_config
from monitoring.mail_settings import MailSettings

if TYPE_CHECKING:
    from pathlib import Path

    from foundation.settings import Settings

_NOBODY = 65534


class AlertSettings(EnvironmentSettings):
    """Receivers of alerts, from environment MESOCOSM_ALERT_*; without any, alerts are only shown.

    Attributes:
        webhook: http or https address that receives Alertmanager's JSON by POST; may contain a
            secret, and is never shown in full. Containers must be able to reach it, so it cannot
            be a loopback address.
        mail_to: comma-separated mail addresses, reached through the server ``MESOCOSM_MAIL_HOST``.
    """

    model_config = SettingsConfigDict(env_prefix="MESOCOSM_ALERT_", frozen=True)

    webhook: SecretStr = SecretStr("")
    mail_to: str = ""

    @field_validator("webhook")
    @classmethod
    def _require_address(cls, value: SecretStr) -> SecretStr:
        text = value.get_secret_value()
        parts = urlsplit(text)
        if text and (parts.scheme not in {"http", "https"} or not parts.hostname):
            raise ValueError("must be an http or https address")
        return value

    @field_validator("mail_to")
    @classmethod
    def _require_mail(cls, value: str) -> str:
        wrong = [part for part in _addresses(value) if not _is_mail(part)]
        if wrong:
            raise ValueError(f"{wrong[0]!r} is not a mail address")
        return ", ".join(_addresses(value))


def read_receivers() -> Receivers:
    """Return the receivers of alerts, from the environment.

    Raises:
        SettingsError: a value is invalid, mail has no server, or a container cannot reach a
            receiver.
    """
    chosen, mail = AlertSettings(), MailSettings()
    webhook = chosen.webhook.get_secret_value()
    if webhook:
        _require_reachable("MESOCOSM_ALERT_WEBHOOK", urlsplit(webhook).hostname or "")
    if not chosen.mail_to:
        return Receivers(webhook)
    if not mail.host:
        raise SettingsError(
            "MESOCOSM_ALERT_MAIL_TO is set, but there is no mail server.",
            resolution="Set MESOCOSM_MAIL_HOST, or unset MESOCOSM_ALERT_MAIL_TO.",
        )
    _require_reachable("MESOCOSM_MAIL_HOST", mail.host)
    server = MailServer(
        host=mail.host,
        port=mail.port,
        sender=mail.sender,
        user=mail.user,
        password=mail.password.get_secret_value(),
        starttls=mail.starttls,
    )
    return Receivers(webhook, chosen.mail_to, server)


def config_dir(settings: Settings) -> Path:
    """Return the folder that Alertmanager's container reads."""
    return settings.state_dir / "alertmanager" / "config"


def data_dir(settings: Settings) -> Path:
    """Return the folder of Alertmanager's silences and sent notifications."""
    return settings.state_dir / "alertmanager" / "data"


def container_user() -> tuple[int, int]:
    """Return user and group of Alertmanager's container: nobody, or ours if we are not root."""
    return (_NOBODY, _NOBODY) if os.geteuid() == 0 else (os.getuid(), os.getgid())


def write_config(settings: Settings) -> str:
    """Write Alertmanager's configuration, readable only by its container; return its text.

    Raises:
        SettingsError: as for `read_receivers`.
    """
    text = expected_config()
    user, group = container_user()
    for folder in (config_dir(settings), data_dir(settings)):
        folder.mkdir(parents=True, exist_ok=True)
        os.chown(folder, user, group)
        folder.chmod(0o700)
    write_atomic(_path(settings), text, mode=0o600)
    os.chown(_path(settings), user, group)
    return text


def expected_config() -> str:
    """Return the configuration that `mesocosm up` would write in this environment.

    Raises:
        SettingsError: as for `read_receivers`.
    """
    return render_config(read_receivers(), socket.gethostname())


def written_config(settings: Settings) -> str:
    """Return the configuration that the last `mesocosm up` wrote; empty if it cannot be read."""
    try:
        return _path(settings).read_text(encoding="utf-8")
    except OSError:
        return ""


def describe_receivers(config: str) -> list[str]:
    """Return short descriptions of where a configuration sends alerts, without secrets."""
    loaded: dict[str, Any] = yaml.safe_load(config) or {}
    described = []
    for receiver in loaded.get("receivers", []):
        hooks, mails = receiver.get("webhook_configs", []), receiver.get("email_configs", [])
        described += [f"webhook at {urlsplit(hook['url']).hostname}" for hook in hooks]
        described += [f"mail to {mail['to']} by {mail['smarthost']}" for mail in mails]
    return described


def _path(settings: Settings) -> Path:
    return config_dir(settings) / "alertmanager.yml"


def _require_reachable(variable: str, host: str) -> None:
    """Raise for a loopback address, which in a container is the container itself."""
    try:
        is_loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_loopback = host.lower() == "localhost"
    if is_loopback:
        raise SettingsError(
            f"{variable} is {host}, which Alertmanager's container cannot use: there, that is the "
            "container itself.",
            resolution="Use an address of this host that containers can reach, such as that of "
            "`host.docker.internal`, and let the server listen on it too.",
        )


def _addresses(value: str) -> list[str]:
    return [part for entry in value.split(",") if (part := entry.strip())]


def _is_mail(text: str) -> bool:
    name, _, domain = text.rpartition("@")
    return bool(name and domain) and text.isprintable() and " " not in text
