"""Tests of what a hostile model may send: nothing of it reaches a host's shell, nothing ends a run."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from controller.actions.executor import ActionExecutor
from controller.actions.session import SessionState
from controller.actions.space import Action, ActionSpace
from controller.actions.vocabulary import action_tools
from foundation.clock import FakeClock
from foundation.errors import ActionError, GuestCallError
from provisioning.fake import FakeDesktop, FakePhone
from provisioning.resource import DESKTOP, PHONE

if TYPE_CHECKING:
    from provisioning.protocols import Json, Machine

HOSTILE: list[Any] = [
    ";id",
    "$(id)",
    "`id`",
    "a\nid\n",
    "|| touch /tmp/mesocosm-hostile",
    "'; touch /tmp/mesocosm-hostile; '",
    "x" * 1_000_000,
    "\x00\x01\x1b[2J\x7f",
    "\ud800",
    "../../etc/passwd",
    "-out",
    "--",
    True,
    None,
    1e308,
    -(2**70),
    {"a": {"b": [1, {"c": ";id"}]}},
    [["x"], [1]],
    '{"x": "{\\"y\\": 1}"}',
]
CALLS = [
    (place, name, argument)
    for place, tools in action_tools().items()
    for name, tool in sorted(tools.items())
    for argument in (*tool.parameters()["properties"], "unknown")
]


class ProgramStartedError(AssertionError):
    """A program was started on the host."""


@pytest.fixture(autouse=True)
def no_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*words: object, **_: object) -> None:
        raise ProgramStartedError(words)

    for owner, name in (
        (subprocess, "Popen"),
        (os, "system"),
        (os, "posix_spawn"),
        (os, "execv"),
        (os, "execve"),
        (os, "fork"),
        (os, "popen"),
    ):
        monkeypatch.setattr(owner, name, refuse)


@pytest.fixture
def executor() -> ActionExecutor:
    roles = {"desktop": DESKTOP, "phone": PHONE}
    machines: dict[str, Machine] = {
        "desktop": FakeDesktop(clock=FakeClock()),
        "phone": FakePhone(clock=FakeClock()),
    }
    return ActionExecutor(ActionSpace(roles, action_tools()), machines, SessionState(FakeClock()))


def attempt(executor: ActionExecutor, action: Action) -> None:
    """Execute an action; what the agent did wrong is the only thing that may be raised."""
    message = ""
    try:
        executor.execute(action)
    except (ActionError, GuestCallError) as exc:  # the fake machine lacks some programs
        message = str(exc)
    # Not `len(message) < 5000`: pytest would print the whole message.
    is_short = len(message) < 5000
    assert is_short


def plausible(place: str, name: str) -> dict[str, Json]:
    """Return arguments of the right types."""
    values: dict[str, Any] = {}
    for argument, schema in action_tools()[place][name].parameters()["properties"].items():
        kind = schema.get("type")
        values[argument] = (
            schema["enum"][0]
            if "enum" in schema
            else {"integer": 1, "number": 1.0, "array": ["a"], "string": "HOME"}.get(kind)
        )
    if "points" in values:
        values["points"] = [[1, 1], [2, 2]]
    return values


@pytest.mark.slow
@pytest.mark.parametrize(("place", "name", "argument"), CALLS)
def test_hostile_arguments_are_data(
    executor: ActionExecutor, place: str, name: str, argument: str
) -> None:
    role = None if place == "session" else place
    for value in HOSTILE:
        attempt(executor, Action(name, role, {**plausible(place, name), argument: value}))


@pytest.mark.parametrize("value", HOSTILE)
def test_hostile_names_are_refused(executor: ActionExecutor, value: object) -> None:
    if isinstance(value, str):
        attempt(executor, Action(value, "desktop", {}))
        attempt(executor, Action("click", value, {}))
        space = executor._space
        attempt(executor, space.action_of_tool(value, {"x": 1}))
        attempt(executor, space.action_of_tool(f"desktop__{value}", {"x": 1}))


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(CALLS), st.dictionaries(st.text() | st.just("x"), _JSON, max_size=4))
def test_any_json_is_answered(
    executor: ActionExecutor, call: tuple[str, str, str], args: dict[str, Any]
) -> None:
    place, name, argument = call
    role = None if place == "session" else place
    attempt(executor, Action(name, role, args))
    attempt(executor, Action(name, role, {**plausible(place, name), argument: args}))
