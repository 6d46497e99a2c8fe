"""Runs programs in a guest through its probe."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, ValidationError

from foundation.errors import LinkProtocolError
from foundation.process import CommandResult

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from provisioning.protocols import Json, Link

_SLACK_S = 5.0
"""Time to wait for the reply beyond the program's own time limit, which the probe enforces."""


class _Reply(BaseModel):
    model_config = ConfigDict(strict=True)

    exit_code: int
    stdout_b64: str
    stderr_b64: str


class LinkCommands:
    """`provisioning.protocols.Commands` over a link.

    Args:
        link: link to the probe.
        user: default user to run programs as.
        home: that user's home folder, the default working directory.
    """

    def __init__(self, link: Link, *, user: str, home: str) -> None:
        self._link = link
        self._user = user
        self._home = home

    def run(
        self,
        argv: Sequence[str],
        *,
        user: str | None = None,
        timeout_s: float = 10.0,
        input: bytes = b"",  # noqa: A002 - as the protocol calls it
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> CommandResult:
        """Run a program to completion; see `provisioning.protocols.Commands`."""
        run_as = self._user if user is None else user
        params: dict[str, Json] = {
            "argv": list(argv),
            "user": run_as,
            "timeout_s": timeout_s,
            "cwd": cwd or (self._home if run_as == self._user else "/"),
            "env": dict(env or {}),
        }
        if input:
            params["stdin_b64"] = base64.b64encode(input).decode()
        raw = self._link.call("exec", params, timeout_s=timeout_s + _SLACK_S)
        try:
            reply = _Reply.model_validate(raw)
            out, err = base64.b64decode(reply.stdout_b64), base64.b64decode(reply.stderr_b64)
        except (ValidationError, ValueError) as exc:
            raise LinkProtocolError(
                "The probe's reply to 'exec' is invalid.", str(exc)[:500]
            ) from exc
        return CommandResult(tuple(argv), reply.exit_code, out, err)
