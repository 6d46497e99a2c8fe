from __future__ import annotations

import contextlib
import socket
from typing import TYPE_CHECKING

import pytest
from pydantic import ValidationError

from controller.episode.result import Reason
from evaluators.graph.outcome import Verdict
from tests.unit.controller.bench import Bench, Scripted, make_task
from tests.unit.controller.episode.test_trial import desktop_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from provisioning.protocols import Stream


def test_machine_without_egress_makes_the_trial_inconclusive(bench: Bench) -> None:
    result = bench.play(make_task(egress={"desktop": ["shop.test:80"]}))
    assert (result.verdict, result.reason) == (Verdict.INCONCLUSIVE, Reason.ENVIRONMENT_ERROR)
    assert "does not support network access" in result.detail


def test_requests_of_a_machine_are_in_the_last_line_of_the_log(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    ways: list[str] = []

    @contextlib.contextmanager
    def open_proxy(serve: Callable[[Stream], None]) -> Iterator[None]:
        ways.append("open")
        guest, proxy = socket.socketpair()
        guest.sendall(b"CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test:443\r\n\r\n")
        serve(proxy)
        assert b"403" in guest.recv(100)
        guest.close()
        yield
        ways.append("closed")

    monkeypatch.setattr(desktop_of(bench), "open_proxy", open_proxy, raising=False)
    bench.run(make_task(egress={"desktop": ["shop.test:80"]}), Scripted())

    assert ways == ["open", "closed"]
    assert bench.events[-1]["type"] == "end"
    asked = bench.events[-1]["egress"]
    assert asked == {"desktop": [{"host": "evil.test", "port": 443, "is_allowed": False}]}


@pytest.mark.parametrize(
    ("egress", "message"),
    [
        ({"phone": ["shop.test:80"]}, "`egress` names the unknown role 'phone'. Known: desktop"),
        ({"desktop": ["shop.test"]}, "'shop.test' is not a destination"),
        ({"desktop": ["*:80"]}, "'*:80' is not a destination"),
    ],
)
def test_invalid_egress_destination_is_rejected(egress: dict[str, list[str]], message: str) -> None:
    with pytest.raises(ValidationError, match=message.replace("*", r"\*")):
        make_task(egress=egress)


def test_tasks_without_egress_keep_their_digest() -> None:
    assert "egress" not in make_task().model_dump(mode="json")
