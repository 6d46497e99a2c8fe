"""Hostile replies: no parser raises, hangs, or makes of them anything else than gestures and faults."""

from __future__ import annotations

import json
import random
import time
from typing import TYPE_CHECKING

import pytest

from controller.models.families.gestures import Gesture, Parsed
from controller.models.families.table import FAMILIES
from controller.models.messages import Message, Reply, Role, Stop, ToolCall
from tests.unit.controller.models.families.replies import called, said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from controller.models.families.family import Family

BIG = 1_000_000
CPU_S = 1.0
"""Limit of one reply, twenty times what the slowest takes; processor time, which a busy host does not stretch.
A parser that never returns is ended by the time limit of tests."""
EXAMPLES = (
    '<tool_call>\n{"name": "computer_use", "arguments": {"action": "wait", "time": 5}}\n</tool_call>',
    '<tool_call>{"name": "mobile_use", "arguments": {"action": "click", "coordinate": [5, 2]}}</tool_call>',
    "<tool_call><function=computer_use><parameter=action>type</parameter><parameter=text>a</parameter>",
    "Thought: a\nAction: click(point='<point>322 609</point>')\n\ntype(content='a\\n')",
    "## Thought: a\n## Code:\n```python\npyautogui.click(x=0.2, y=0.3)\n```",
    "{'action': 'CLICK', 'value': None, 'position': [0.49, 0.42]}",
    "(322, 609)",
)
HOSTILE = (
    *(";id", "$(id)", "`id`", "a\nb\r\n\x00\x1b[31m\x7f", "\ud800", "'; DROP TABLE x; --"),
    *(
        "[" * 50_000,
        "{" * BIG,
        '{"a":' * 5_000,
        "<tool_call>" * 90_000,
        "##" * BIG,
        "```\n" * 90_000,
    ),
    *(
        " " * BIG,
        "\n" * BIG,
        "1" * BIG,
        "1," * BIG,
        "<parameter=a>" * 90_000,
        "<function=a>" * 90_000,
    ),
    *("Action: " * 90_000, "Action:" + "-" * 5_000 + "1", "```python\n" + "-" * 19_000 + "1\n```"),
    "Action: click(point='" + "1 " * 90_000 + "')",
    "Action: type(content='" + "x" * BIG + "')",
    "Action: " + "f(" * 9_000,
    "```python\n" + "a." * 9_000 + "b()\n```",
    "```python\npyautogui.click(" + "9" * 9_000 + ", 1)\n```",
    "```python\npyautogui.write('\\ud800')\n```",
    "{'action': 'INPUT', 'value': '" + "x" * BIG + "'}",
    "{'action': ['CLICK'], 'position': {}}",
    '<tool_call>{"name": {}, "arguments": []}</tool_call>',
    '<tool_call>{"name": "computer_use", "arguments": "\\"\\\\\\"{}\\\\\\"\\""}</tool_call>',
)
WRONG: tuple[object, ...] = (
    None,
    True,
    -1,
    1e999,
    "",
    ";id",
    [],
    [[]],
    {},
    {"a": {"b": []}},
    [1, "2", None],
    "9" * 5000,
)
NAMES = ("action", "actions", "coordinate", "text", "keys", "x", "y", "direction", "path", "type")
TOOLS = ("computer", "computer_use", "mobile_use", "left_click", "scroll", "key", "click", "hotkey",
         "type_text_at", "drag_and_drop", "session__submit", ";id", "", "a" * 5000)  # fmt: skip


def mutations(text: str, generator: random.Random) -> Iterator[str]:
    for _ in range(150):
        chars = list(text)
        for _ in range(generator.randint(1, 6)):
            place = generator.randrange(len(chars) + 1)
            match generator.randrange(3):
                case 0:
                    chars.insert(place, generator.choice("'\"(){}[]<>\\,;=\n\x00é\ud800 09.-"))
                case 1:
                    del chars[place : place + generator.randint(1, 9)]
                case _:
                    chars[place:place] = chars[: generator.randint(0, 20)]
        yield "".join(chars)


def calls() -> Iterator[Reply]:
    generator = random.Random(7)  # noqa: S311 - repeatable
    for tool in TOOLS:
        for _ in range(60):
            args = {
                name: generator.choice(WRONG)
                for name in generator.sample(NAMES, generator.randint(1, 6))
            }
            yield called((tool, json.dumps(args)))
    for text in (
        '{"a":' * 5_000,
        "[" * 100_000,
        "NaN",
        '"' * 99,
        "\ud800",
        '{"text": "\\ud800"}',
        "1e999",
    ):
        for tool in TOOLS:
            yield called((tool, text))
    nested = {"actions": [{"type": "click", "x": [[]], "y": {}}, {"type": {"type": "wait"}}]}
    yield called(("computer", json.dumps(json.dumps(nested))))
    yield Reply(Message(Role.MODEL, ("a",), (ToolCall("", "x", "{", "no object"),), malformed="no"))


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_no_parser_crashes_or_hangs(family: Family) -> None:
    generator = random.Random(11)  # noqa: S311 - repeatable
    texts = [*HOSTILE, *(text for example in EXAMPLES for text in mutations(example, generator))]
    replies = [*map(said, texts), *(said(text, Stop.LENGTH) for text in texts[:50]), *calls()]
    for reply in replies:
        start_s = time.thread_time()
        parsed = family.parser.read(reply)
        assert time.thread_time() - start_s < CPU_S
        assert isinstance(parsed, Parsed)
        assert parsed.gestures or parsed.fault
        assert all(isinstance(gesture, Gesture) for gesture in parsed.gestures)
        assert len(parsed.gestures) <= 100
        assert parsed.fault is None or len(parsed.fault.text) < 500
        for gesture in parsed.gestures:
            json.dumps(gesture.to_dict(), ensure_ascii=False, allow_nan=False)


def test_mutations_reach_what_they_are_about() -> None:
    generator = random.Random(11)  # noqa: S311 - repeatable
    kinds = {
        parsed.fault.kind if (parsed := family.parser.read(said(text))).fault else "fine"
        for family in FAMILIES.values()
        for example in EXAMPLES
        for text in mutations(example, generator)
    }
    assert len(kinds) >= 5
