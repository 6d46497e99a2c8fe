"""Attribution of undecided evaluators in a guest."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, cast

import pytest

from evaluators.attribution import cause_of
from evaluators.desktop import dav, mail, web
from evaluators.desktop.errors import (
    ObstructedError,
    ServerError,
    WrongArgumentError,
    asking,
    is_own,
    output_of,
)
from evaluators.desktop.web import Answer
from evaluators.graph.outcome import Cause
from evaluators.pictures import unusable
from foundation.errors import ObstructedEvaluationError
from provisioning.probe import reasons

if TYPE_CHECKING:
    from provisioning.probe.guest import Guest


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        (reasons.OBSTRUCTED, Cause.OBSTRUCTION),
        (reasons.TOO_SLOW, Cause.OBSTRUCTION),
        (reasons.TOO_LARGE, Cause.OBSTRUCTION),
        (reasons.LATE_WAVE, Cause.OBSTRUCTION),
        (reasons.PROCESS_ENDED, Cause.OBSTRUCTION),
        (reasons.NO_PROCESS, Cause.OBSTRUCTION),
        (reasons.SERVER, Cause.MACHINE),
        (reasons.ARGUMENT, Cause.TASK),
        (reasons.RAISED, Cause.EVALUATOR),
        (reasons.UNKNOWN, Cause.EVALUATOR),
        (reasons.NOT_BOOL, Cause.EVALUATOR),
        ("newer", Cause.EVALUATOR),
        ("", Cause.EVALUATOR),
    ],
)
def test_code_determines_the_cause(code: str, cause: Cause) -> None:
    assert cause_of(code) is cause


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (ObstructedError("a"), Cause.OBSTRUCTION),
        (ServerError("a"), Cause.MACHINE),
        (WrongArgumentError("a"), Cause.TASK),
    ],
)
def test_errors_of_evaluators_declare_their_cause(error: Exception, cause: Cause) -> None:
    assert cause_of(reasons.code_of(error)) is cause


def test_server_on_the_desktop_is_attributed_to_the_agent() -> None:
    for host in ("localhost", "127.0.0.9", "::1", "0.0.0.0"):  # noqa: S104 - an address to connect to
        assert is_own(host), host
        with (
            pytest.raises(ObstructedError, match="did not respond properly: OSError: x"),
            asking(host),
        ):
            raise OSError("x")
    for host in ("192.0.2.1", "no such name", "a" * 70):
        assert not is_own(host), host
        with pytest.raises(ServerError), asking(host):
            raise ValueError("garbage")


def test_address_of_a_network_card_is_the_desktops_own() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        handle.connect(("192.0.2.1", 9))
        assert is_own(handle.getsockname()[0])


def test_ambiguous_host_name_is_attributed_to_another_host(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0))
        for address in ("127.0.0.1", "192.0.2.1")
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: rows)  # no name here has two addresses
    assert not is_own("both.test")


def test_calendar_missing_on_another_host_is_an_obstruction(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer = Answer(404, b"")
    monkeypatch.setattr(dav, "ask", lambda *_: answer)  # no other host can be queried here
    with pytest.raises(ObstructedError, match="collection does not exist"):
        dav.calendar_lacks_event(cast("Guest", None), "http://ann:pass@192.0.2.1/a/", "x")


@pytest.mark.parametrize("host", ["192.0.2.1", "localhost"])
def test_wrong_url_of_a_task_is_not_attributed_to_its_server(host: str) -> None:
    guest = cast("Guest", None)
    for bad in (f"http://{host}:99999/a/", f"http://{host}:x/a/", f"{host}/a/", f"//{host}/a"):
        with pytest.raises(WrongArgumentError):
            dav.calendar_lacks_event(guest, bad, "x")
        with pytest.raises(WrongArgumentError):
            web.http_status_is(guest, bad, 200)
        with pytest.raises(WrongArgumentError):
            mail.mail_in_folder(guest, bad.replace("http:", "imap:"), "INBOX", "x")


def test_missing_picture_is_an_obstruction_and_a_bad_inline_one_is_not() -> None:
    assert isinstance(unusable("~/o.png", "It is gone."), ObstructedEvaluationError)
    assert not isinstance(unusable("data:image/png;base64,", "No."), ObstructedEvaluationError)


def test_ended_program_is_an_obstruction() -> None:
    class Ended:
        def run_as_user(self, argv: list[str], timeout_s: float) -> tuple[int, bytes, bytes]:
            return int(argv[1]), b"out\xff", b"err"

    guest = cast("Guest", Ended())
    assert output_of(guest, ["/bin/x", "3"]) == (3, "out\ufffd", "err")
    with pytest.raises(ObstructedError, match="/bin/x was killed by signal 9"):
        output_of(guest, ["/bin/x", "-9"])
