"""Settings of the mail server."""

from __future__ import annotations

from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from foundation.environment import EnvironmentSettings


class MailSettings(EnvironmentSettings):
    """Settings of the mail server, from the environment variables MESOCOSM_MAIL_*.

    Attributes:
        host: host name of the mail server; if empty, no mail is sent.
        port: port of the mail server.
        sender: sender address.
        user: user name; if empty, no login is made.
        password: password of the user; stored only if alerts are mailed, in a file that only
            Alertmanager's container reads.
        starttls: whether to encrypt the connection with STARTTLS before login.
    """

    model_config = SettingsConfigDict(env_prefix="MESOCOSM_MAIL_", frozen=True)

    host: str = ""
    port: int = Field(default=25, ge=1, le=65535)
    sender: str = "mesocosm@localhost"
    user: str = ""
    password: SecretStr = SecretStr("")
    starttls: bool = False
