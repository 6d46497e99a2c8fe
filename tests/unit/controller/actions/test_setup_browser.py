"""Setup operations for browsers: what they send to the guest, and what they say when it fails."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import ValidationError

from controller.actions.setup_browser import (
    Bookmark,
    Visit,
    add_bookmarks,
    add_history,
    open_tabs,
    serve_pages,
)
from controller.actions.vocabulary import setup_tools
from foundation.errors import ActionError
from foundation.process import CommandResult
from provisioning.fake import FakeFleet
from provisioning.resource import DESKTOP, ResourceSpec

if TYPE_CHECKING:
    from provisioning.protocols import Json, Machine

PAGE = "http://localhost:8000/a.html"
Call = dict[str, Any]


@pytest.fixture(name="machine")
def _machine() -> Any:  # noqa: ANN401 - a generator of fake machines
    with FakeFleet().acquire({"desktop": ResourceSpec(DESKTOP)}) as lease:
        yield lease.environment.machines["desktop"]


def answer(monkeypatch: pytest.MonkeyPatch, machine: Machine, result: CommandResult) -> list[Call]:
    """Let every program in the guest end with a result; return the calls."""
    calls: list[Call] = []

    def run(argv: tuple[str, ...], **options: Any) -> CommandResult:  # noqa: ANN401
        calls.append({"argv": argv, **options, "about": json.loads(options["input"])})
        return result

    monkeypatch.setattr(machine, "run", run)
    return calls


def test_programs_get_their_work_as_the_right_user(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = answer(monkeypatch, machine, CommandResult(("python3",), 0, b"", b""))
    serve_pages(machine, "~/site", 8080)
    add_bookmarks(machine, [Bookmark(title="A", url=PAGE, folder="Work")])
    add_history(machine, [Visit(url=PAGE, minutes_ago=5)])
    served, marked, visited = calls
    assert (served["user"], served["about"]["folder"]) == ("root", f"{machine.info.home}/site")
    assert "http.server" in served["argv"][-1]
    assert (marked["user"], marked["about"]["visits"]) == (None, [])
    assert marked["about"]["bookmarks"] == [
        {"title": "A", "url": PAGE, "place": "toolbar", "folder": "Work"}
    ]
    assert visited["about"]["visits"] == [{"url": PAGE, "title": "", "minutes_ago": 5}]
    assert all(call["timeout_s"] > call["about"]["timeout_s"] for call in calls)


def test_what_the_guest_says_is_in_the_error(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(monkeypatch, machine, CommandResult(("python3",), 1, b"", b"Port 8000 is taken.\n"))
    with pytest.raises(ActionError, match="Pages cannot be served at port 8000") as caught:
        serve_pages(machine, "/srv/site")
    assert caught.value.details == "Port 8000 is taken."


def test_tabs_open_one_after_the_other(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[tuple[str, list[str]]] = []

    def start(_: Machine, desktop_id: str, args: list[str], **__: float) -> None:
        started.append((desktop_id, args))

    monkeypatch.setattr("controller.actions.setup_browser.start_program", start)
    open_tabs(machine, [PAGE, "https://example.org/"])
    name = started[0][0]
    assert name in {"firefox", "firefox-esr"}
    assert started == [(name, [PAGE]), (name, ["https://example.org/"])]


def test_wrong_arguments_are_reported_when_a_suite_is_read() -> None:
    tools = setup_tools()["desktop"]
    wrong: tuple[tuple[str, dict[str, Json]], ...] = (
        ("serve_pages", {"path": "/srv/site", "port": 80}),
        ("add_bookmarks", {"bookmarks": [{"title": "A", "url": "localhost"}]}),
        ("add_history", {"visits": [{"url": PAGE, "minutes_ago": -1}]}),
        ("open_tabs", {"urls": []}),
    )
    for name, args in wrong:
        assert tools[name].faults(args), name
    assert not tools["add_bookmarks"].faults({"bookmarks": [{"title": "A", "url": PAGE}]})
    with pytest.raises(ValidationError):
        Bookmark(title="A", url="ftp://x.example/")
