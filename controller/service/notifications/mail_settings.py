"""The server that takes mail."""

from __future__ import annotations

from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from appliance.base.environment import EnvironmentSettings


class MailSettings(EnvironmentSettings):
    """The server that takes mail: environment MESOCOSM_MAIL_*.

    Attributes:
        host: its name; without it no mail is sent.
        port: where it listens.
        sender: address that mail comes from.
        user: name to log in with; empty does not log in.
        password: of that user; written nowhere but, where alerts are mailed, to the file that
            Alertmanager's container alone reads.
        starttls: whether the connection is encrypted before anything else.
    """

    model_config = SettingsConfigDict(env_prefix="MESOCOSM_MAIL_", frozen=True)

    host: str = ""
    port: int = Field(default=25, ge=1, le=65535)
    sender: str = "mesocosm@localhost"
    user: str = ""
    password: SecretStr = SecretStr("")
    starttls: bool = False
