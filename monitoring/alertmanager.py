"""Render Alertmanager's configuration: who is notified of alerts, and how often.

Source: https://prometheus.io/docs/alerting/latest/configuration/
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Mapping

RECEIVER = "bench"
"""The only receiver; without an address it accepts alerts and notifies nobody."""

_HEAD = "# Written by `mesocosm up` from MESOCOSM_ALERT_* and MESOCOSM_MAIL_*; changes are lost.\n"
_GROUP_WAIT = {"page": "10s", "ticket": "1m"}
"""How long alerts with the same name are collected before the first notification."""
_REPEAT_INTERVAL = {"page": "4h", "ticket": "24h"}
"""How long until an alert that still fires is notified again."""
_IMPLIED = {"HostDown": "MachinesLost|PoolEmpty", "DiskFull": "DiskLow"}
"""Alerts that are inhibited while another alert that explains them fires."""
_SUBJECT = "[{{ .Status }}] {{ .GroupLabels.alertname }}: Mesocosm on "
_TEXT = """\
{{ range .Alerts }}{{ .Status }}: {{ .Labels.alertname }} ({{ .Labels.severity }}), since {{ .StartsAt.UTC.Format "2006-01-02 15:04:05" }} UTC
{{ .Annotations.summary }}
{{ .Annotations.cure }}

{{ end }}All alerts: {{ .ExternalURL }}
"""


@dataclass(frozen=True, slots=True)
class MailServer:
    """The SMTP server that sends alert mail.

    Attributes:
        host: host name of the server.
        port: port of the server.
        sender: sender address of the mail.
        user: login name; empty for no login.
        password: password of that user.
        starttls: whether STARTTLS is required.
    """

    host: str
    port: int
    sender: str
    user: str = ""
    password: str = ""
    starttls: bool = False


@dataclass(frozen=True, slots=True)
class Receivers:
    """Where alerts are sent.

    Attributes:
        webhook: URL that receives Alertmanager's JSON; empty for none.
        mail_to: comma-separated addresses; empty for none.
        server: the mail server; required with `mail_to`.
    """

    webhook: str = ""
    mail_to: str = ""
    server: MailServer | None = None


def render_config(receivers: Receivers, place: str) -> str:
    """Return the text of ``alertmanager.yml``, which contains passwords.

    Args:
        receivers: where alerts are sent.
        place: name of this host, for mail subjects.
    """
    receiver: dict[str, Any] = {"name": RECEIVER}
    if receivers.webhook:
        receiver["webhook_configs"] = [{"url": receivers.webhook, "send_resolved": True}]
    if receivers.mail_to and receivers.server:
        receiver["email_configs"] = [_mail(receivers.mail_to, receivers.server, place)]
    config = {
        "route": {
            "receiver": RECEIVER,
            "group_by": ["alertname"],
            **_pace("ticket"),
            "routes": [{"matchers": ['severity="page"'], **_pace("page")}],
        },
        "inhibit_rules": [
            {
                "source_matchers": [f'alertname="{source}"'],
                "target_matchers": [f'alertname=~"{targets}"'],
            }
            for source, targets in _IMPLIED.items()
        ],
        "receivers": [receiver],
    }
    return _HEAD + yaml.safe_dump(config, sort_keys=False, allow_unicode=True)


def _pace(severity: str) -> Mapping[str, str]:
    return {
        "group_wait": _GROUP_WAIT[severity],
        "group_interval": "5m",
        "repeat_interval": _REPEAT_INTERVAL[severity],
    }


def _mail(to: str, server: MailServer, place: str) -> dict[str, Any]:
    login = {"auth_username": server.user, "auth_password": server.password} if server.user else {}
    return {
        "to": to,
        "from": server.sender,
        "smarthost": f"{server.host}:{server.port}",
        "require_tls": server.starttls,
        **login,
        "send_resolved": True,
        "headers": {"Subject": _SUBJECT + _literal(place)},
        "html": "",
        "text": _TEXT,
    }


def _literal(text: str) -> str:
    """Return text that a Go template prints verbatim."""
    return text.replace("{{", "")
