"""Deliver a message, as a POST with JSON or as mail."""

from __future__ import annotations

import http.client
import json
import smtplib
import ssl
import urllib.error
import urllib.request
from email.message import EmailMessage
from typing import TYPE_CHECKING, Any

from controller.service.schedules.definition import Mail, Webhook
from foundation.errors import RequirementError, ToolFailedError
from monitoring.mail_settings import MailSettings

if TYPE_CHECKING:
    from controller.service.schedules.definition import Target
    from provisioning.protocols import Json

_TIMEOUT_S = 20.0


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Rejects redirects, so that a message reaches only the URL in its schedule."""

    def redirect_request(self, *_args: Any, **_kwargs: Any) -> None:  # noqa: ANN401 - its base's
        """Return None, so that the redirect is not followed."""


def deliver(target: Target, body: dict[str, Json]) -> None:
    """Deliver one message.

    Raises:
        ToolFailedError: the receiver did not accept it.
        RequirementError: no mail server is configured.
    """
    match target:
        case Webhook():
            _post(target.url, body)
        case Mail():
            _mail(target.to, body, MailSettings())


def _post(url: str, body: dict[str, Json]) -> None:
    request = urllib.request.Request(  # noqa: S310 - schedules accept only http and https
        url,
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json", "User-Agent": "mesocosm"},
        method="POST",
    )
    opener = urllib.request.build_opener(_NoRedirects)
    try:
        with opener.open(request, timeout=_TIMEOUT_S):
            pass
    except urllib.error.HTTPError as exc:
        with exc:
            raise ToolFailedError(f"The webhook replied with {exc.code}.", details=url) from exc
    except (OSError, http.client.HTTPException) as exc:
        raise ToolFailedError("The webhook cannot be reached.", details=f"{url}: {exc}") from exc


def _mail(to: str, body: dict[str, Json], settings: MailSettings) -> None:
    if not settings.host:
        raise RequirementError(
            "No mail server is configured.", resolution="Set MESOCOSM_MAIL_HOST for the service."
        )
    message = EmailMessage()
    message["From"], message["To"] = settings.sender, to
    message["Subject"] = f"{body['schedule']}: {body['event']} of run {body['run']}"
    message["Message-ID"] = f"<{body['id']}.{body['run']}@mesocosm>"
    message.set_content(_text(body))
    try:
        with smtplib.SMTP(settings.host, settings.port, timeout=_TIMEOUT_S) as server:
            if settings.starttls:
                server.starttls(context=ssl.create_default_context())
            if settings.user:
                server.login(settings.user, settings.password.get_secret_value())
            server.send_message(message)
    except (OSError, smtplib.SMTPException) as exc:
        place = f"{settings.host}:{settings.port}"
        raise ToolFailedError(
            "The mail server did not accept the message.", details=f"{place}: {exc}"
        ) from exc


def _text(body: dict[str, Json]) -> str:
    """Return a readable message: key fields first, the whole body as JSON below."""
    keys = ("schedule", "run", "suite", "agent", "state", "PASS", "FAIL", "INCONCLUSIVE", "SR")
    lines = [f"{key}: {body[key]}" for key in keys if body.get(key) is not None]
    return "\n".join([*lines, "", json.dumps(body, indent=2), ""])
