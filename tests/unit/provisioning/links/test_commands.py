"""Commands of a guest over its link."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pytest

from foundation.errors import LinkProtocolError
from provisioning.links.commands import LinkCommands

if TYPE_CHECKING:
    from collections.abc import Mapping

    from provisioning.protocols import Json


class Recorded:
    """A link that records its requests and returns one reply."""

    def __init__(self, reply: Json) -> None:
        self.reply = reply
        self.asked: list[dict[str, Json]] = []

    def call(
        self, op: str, params: Mapping[str, Json] | None = None, *, timeout_s: float = 10.0
    ) -> Json:
        assert op == "exec"
        self.asked.append({**(params or {}), "deadline_s": timeout_s})
        return self.reply

    def close(self) -> None:
        pass


def reply(exit_code: int, out: bytes = b"", err: bytes = b"") -> Json:
    return {
        "exit_code": exit_code,
        "stdout_b64": base64.b64encode(out).decode(),
        "stderr_b64": base64.b64encode(err).decode(),
        "truncated": False,
    }


def commands(link: Recorded) -> LinkCommands:
    return LinkCommands(link, user="student", home="/srv/student")


def test_command_runs_as_the_agent_in_its_home() -> None:
    link = Recorded(reply(3, b"out", b"err"))
    result = commands(link).run(["prog", "a b"])
    assert (result.argv, result.exit_code) == (("prog", "a b"), 3)
    assert (result.stdout, result.stderr) == (b"out", b"err")
    (asked,) = link.asked
    assert (asked["user"], asked["cwd"]) == ("student", "/srv/student")
    assert "stdin_b64" not in asked


def test_other_user_starts_at_the_root_and_options_are_passed_on() -> None:
    link = Recorded(reply(0))
    commands(link).run(["x"], user="root", timeout_s=3.0, input=b"in", env={"A": "b"})
    commands(link).run(["x"], cwd="/srv")
    first, second = link.asked
    assert (first["user"], first["cwd"], first["env"]) == ("root", "/", {"A": "b"})
    assert base64.b64decode(str(first["stdin_b64"])) == b"in"
    assert first["timeout_s"] == 3.0
    assert float(str(first["deadline_s"])) > 3.0  # the probe ends the command and reports that
    assert second["cwd"] == "/srv"


@pytest.mark.parametrize("bad", [None, {}, {"exit_code": "0"}, {"exit_code": 0, "stdout_b64": 1}])
def test_invalid_reply_is_rejected(bad: Json) -> None:
    with pytest.raises(LinkProtocolError):
        commands(Recorded(bad)).run(["x"])
