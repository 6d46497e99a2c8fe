"""The checks of a guest run on this host, which is also Linux with a shell and /proc."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, cast

import pytest

from foundation.errors import GuestCallError, LinkTimeoutError
from foundation.process import run
from provisioning.desktop import obstruction
from provisioning.desktop.obstruction import find_guest_obstruction, find_obstruction

if TYPE_CHECKING:
    from collections.abc import Mapping

    from provisioning.protocols import Json


class HostLink:
    """A link whose guest is this host.

    Args:
        session: the probe's reply about the session, or its error; a list has one reply per request.
        is_slow: whether even a small program does not finish in time.
    """

    def __init__(
        self,
        session: Json | Exception | list[Json | Exception],
        *,
        is_slow: bool = False,
    ) -> None:
        self._replies = session if isinstance(session, list) else [session] * 2
        self._is_slow = is_slow

    def call(
        self, op: str, params: Mapping[str, Json] | None = None, *, timeout_s: float = 10.0
    ) -> Json:
        if op == "session":
            reply = self._replies.pop(0)
            if isinstance(reply, Exception):
                raise reply
            return reply
        argv = [str(word) for word in cast("list[Json]", (params or {})["argv"])]
        if self._is_slow and argv == ["/bin/true"]:
            raise LinkTimeoutError("no reply")
        result = run(argv)
        return {
            "exit_code": result.exit_code,
            "stdout_b64": base64.b64encode(result.stdout).decode(),
            "stderr_b64": base64.b64encode(result.stderr).decode(),
        }

    def close(self) -> None:
        pass


def test_nothing_is_reported_on_a_healthy_guest() -> None:
    assert find_obstruction(HostLink({"ready": True}), "nobody") == ""


def test_ended_session_is_reported() -> None:
    cause = find_obstruction(HostLink({"ready": False}), "nobody")
    assert cause == "the graphical session ended"


def test_unresponsive_session_is_reported_if_programs_run_at_once() -> None:
    link = HostLink(LinkTimeoutError("no reply"))
    assert find_obstruction(link, "nobody") == "the graphical session does not answer"


def test_session_that_answers_on_retry_is_ok() -> None:
    replies: list[Json | Exception] = [LinkTimeoutError("no reply"), {"ready": True}]
    link = HostLink(replies)
    assert find_obstruction(link, "nobody") == ""


def test_unresponsive_session_on_a_slow_desktop_is_no_evidence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    link = HostLink(LinkTimeoutError("no reply"), is_slow=True)
    assert find_obstruction(link, "nobody") == ""
    monkeypatch.setattr(obstruction, "_MAX_RUNNABLE", 0)
    assert "processes are runnable" in find_obstruction(link, "nobody")


def test_unknown_user_obstructs_nothing() -> None:
    assert find_guest_obstruction(run, "no-such-user") == ""


@pytest.mark.parametrize(
    ("bound", "value", "message"),
    [
        ("_MIN_FREE_KIB", 1 << 50, "the disk is full at /"),
        ("_MAX_PROCESSES", 0, "processes of the user run"),
        ("_MAX_RUNNABLE", 0, "processes are runnable"),
        ("_MIN_FREE_MEMORY_SHARE", 101, "the memory is full"),
    ],
)
def test_each_limit_is_checked(
    monkeypatch: pytest.MonkeyPatch, bound: str, value: int, message: str
) -> None:
    monkeypatch.setattr(obstruction, bound, value)
    assert message in find_guest_obstruction(run, "root")


def test_load_and_memory_of_a_shared_kernel_are_no_evidence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(obstruction, "_MIN_FREE_MEMORY_SHARE", 101)
    assert "memory" not in find_guest_obstruction(run, "root", shares_kernel=True)
    monkeypatch.setattr(obstruction, "_MAX_RUNNABLE", -1)
    assert "processes are runnable" in find_guest_obstruction(run, "root", shares_kernel=True)
    assert find_guest_obstruction(run, "no-such-user", shares_kernel=True) == ""


class StarvedLink(HostLink):
    """A link to a guest whose memory is used up: the probe answers, but starts no program.

    Args:
        kills: whether programs start, and the kernel kills them.
    """

    def __init__(self, *, kills: bool) -> None:
        super().__init__({"ready": True})
        self._kills = kills

    def call(
        self, op: str, params: Mapping[str, Json] | None = None, *, timeout_s: float = 10.0
    ) -> Json:
        if op == "session":
            return {"ready": True}
        if self._kills:
            return {"exit_code": -9, "stdout_b64": "", "stderr_b64": ""}
        raise GuestCallError(
            "'exec' failed", "failed: cannot start /bin/sh: Cannot allocate memory"
        )


def test_guest_that_cannot_start_programs_is_reported() -> None:
    cause = find_obstruction(StarvedLink(kills=False), "nobody")
    assert cause.startswith("root's programs cannot run: ")
    assert "Cannot allocate memory" in cause


def test_guest_that_kills_roots_programs_is_reported() -> None:
    cause = find_obstruction(StarvedLink(kills=True), "nobody")
    assert cause == "root's programs are killed (exit code -9)"
