"""Replies in the published formats of open models, written anew; the modules name the sources."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from controller.models.families.gestures import Do, FaultKind, Gesture
from controller.models.families.gta1 import Gta1Parser
from controller.models.families.opencua import OpenCuaParser
from controller.models.families.qwen import QwenParser
from controller.models.families.showui import ShowUiParser
from controller.models.families.ui_tars import UiTarsParser
from tests.unit.controller.models.families.replies import called, said

if TYPE_CHECKING:
    from controller.models.families.family import Parser


def qwen(arguments: str) -> str:
    call = f'{{"name": "computer_use", "arguments": {arguments}}}'
    return f"Thought: see.\nAction: do.\n<tool_call>\n{call}\n</tool_call>"


@pytest.mark.parametrize(
    ("arguments", "gesture"),
    [
        (
            '{"action": "left_click", "coordinate": [500, 250]}',
            Gesture(Do.CLICK, ((500, 250),)),
        ),
        (
            '{"action": "left_click", "coordinate": [5, 6], "text": "ctrl"}',
            Gesture(Do.CLICK, ((5, 6),), keys=("ctrl",)),
        ),
        (
            '{"action": "right_click", "coordinate": ["5", "6"]}',
            Gesture(Do.CLICK, ((5, 6),), "right"),
        ),
        (
            '{"action": "triple_click", "coordinate": [5, 6]}',
            Gesture(Do.CLICK, ((5, 6),), clicks=3),
        ),
        ('{"action": "left_click_drag", "coordinate": [5, 6]}', Gesture(Do.DRAG, ((5, 6),))),
        ('{"action": "key", "keys": ["ctrl", "s"]}', Gesture(Do.KEYS, keys=("ctrl", "s"))),
        ('{"action": "type", "text": "a\\nb"}', Gesture(Do.TYPE, text="a\nb")),
        (
            '{"action": "scroll", "pixels": -500, "coordinate": [5, 6]}',
            Gesture(Do.SCROLL, ((5, 6),), notches=(0, 5)),
        ),
        ('{"action": "scroll", "pixels": 5}', Gesture(Do.SCROLL, notches=(0, -5))),
        ('{"action": "hscroll", "pixels": 3}', Gesture(Do.SCROLL, notches=(3, 0))),
        ('{"action": "wait", "time": 2}', Gesture(Do.WAIT, seconds=2)),
        ('{"action": "terminate", "status": "success"}', Gesture(Do.DONE)),
        ('{"action": "terminate", "status": "failure"}', Gesture(Do.GIVE_UP)),
        ('{"action": "answer", "text": "42"}', Gesture(Do.ANSWER, text="42")),
        ('{"action": "long_press", "coordinate": [5, 6], "time": 2}',
         Gesture(Do.LONG_PRESS, ((5, 6),), seconds=2)),
        ('{"action": "swipe", "coordinate": [5, 6], "coordinate2": [7, 8]}',
         Gesture(Do.DRAG, ((5, 6), (7, 8)))),
        ('{"action": "system_button", "button": "Back"}', Gesture(Do.BUTTON, text="BACK")),
        ('{"action": "open", "text": "Tasks"}', Gesture(Do.OPEN, text="Tasks")),
        ('"{\\"action\\": \\"wait\\"}"', Gesture(Do.WAIT, seconds=1)),
    ],
)  # fmt: skip
def test_qwen_calls(arguments: str, gesture: Gesture) -> None:
    parsed = QwenParser().read(said(qwen(arguments)))
    assert (parsed.gestures, parsed.fault) == ((gesture,), None)
    assert parsed.thought == "Thought: see.\nAction: do."
    # A server that parses the calls itself
    assert QwenParser().read(called(("computer_use", arguments))).gestures == (gesture,)


XML = """\
<tool_call>
<function=computer_use>
<parameter=action>
{action}
</parameter>
<parameter=coordinate>
[500, 250]
</parameter>
</function>
</tool_call>"""


@pytest.mark.parametrize("name", ["action", "type"])
def test_qwen35_writes_xml(name: str) -> None:
    body = XML.format(action="left_click").replace("=action>", f"={name}>")
    assert QwenParser().read(said(body)).gestures == (Gesture(Do.CLICK, ((500, 250),)),)
    typed = (
        "<function=computer_use><parameter=action>type</parameter><parameter=text>5 < 6</parameter>"
    )
    parsed = QwenParser().read(said(f"<tool_call>{typed}"))
    assert parsed.gestures == (Gesture(Do.TYPE, text="5 < 6"),)


@pytest.mark.parametrize(
    ("action", "gestures"),
    [
        ("click(point='<point>322 609</point>')", [Gesture(Do.CLICK, ((322, 609),))]),
        (
            "click(start_box='<|box_start|>(322,609)<|box_end|>')",
            [Gesture(Do.CLICK, ((322, 609),))],
        ),
        ("click(start_box='(10,20,30,40)')", [Gesture(Do.CLICK, ((20, 30),))]),
        ("left_double(point='<point>5 6</point>')", [Gesture(Do.CLICK, ((5, 6),), clicks=2)]),
        ("right_single(point='<point>5 6</point>')", [Gesture(Do.CLICK, ((5, 6),), "right")]),
        (
            "drag(start_point='<point>1 2</point>', end_point='<point>3 4</point>')",
            [Gesture(Do.DRAG, ((1, 2), (3, 4)))],
        ),
        ("hotkey(key='ctrl c')", [Gesture(Do.KEYS, keys=("ctrl", "c"))]),
        (
            r"type(content='it\'s \"x\"\n')",
            [Gesture(Do.TYPE, text='it\'s "x"', submits=True)],
        ),
        (r"type(content='C:\dir')", [Gesture(Do.TYPE, text="C:\\dir")]),
        (
            "scroll(point='<point>5 6</point>', direction='down')",
            [Gesture(Do.SCROLL, ((5, 6),), notches=(0, 5))],
        ),
        ("wait()", [Gesture(Do.WAIT, seconds=5)]),
        ("finished(content='42')", [Gesture(Do.ANSWER, text="42")]),
        ("finished()", [Gesture(Do.DONE)]),
        ("call_user()", [Gesture(Do.ASK)]),
        ("open_app(app_name='Tasks')", [Gesture(Do.OPEN, text="Tasks")]),
        ("press_home()", [Gesture(Do.BUTTON, text="HOME")]),
        (
            "click(point='<point>1 2</point>')\n\ntype(content='a')",
            [Gesture(Do.CLICK, ((1, 2),)), Gesture(Do.TYPE, text="a")],
        ),
    ],
)
def test_ui_tars_actions(action: str, gestures: list[Gesture]) -> None:
    parsed = UiTarsParser().read(said(f"Thought: I look.\nAction: {action}"))
    assert (list(parsed.gestures), parsed.fault) == (gestures, None)
    assert parsed.thought == "I look."


@pytest.mark.parametrize(
    ("code", "gestures"),
    [
        ("pyautogui.click(x=0.25, y=0.75)", [Gesture(Do.CLICK, ((0.25, 0.75),))]),
        ("pyautogui.click(0.25, 0.75)", [Gesture(Do.CLICK, ((0.25, 0.75),))]),
        ("pyautogui.click(x=0.25, y=0.75, button='right')",
         [Gesture(Do.CLICK, ((0.25, 0.75),), "right")]),
        ("pyautogui.doubleClick(x=0.25, y=0.75)", [Gesture(Do.CLICK, ((0.25, 0.75),), clicks=2)]),
        ("computer.triple_click(x=0.25, y=0.75)", [Gesture(Do.CLICK, ((0.25, 0.75),), clicks=3)]),
        ("pyautogui.moveTo(x=0.1, y=0.2)\npyautogui.dragTo(x=0.3, y=0.4, button='left')",
         [Gesture(Do.MOVE, ((0.1, 0.2),)), Gesture(Do.DRAG, ((0.3, 0.4),))]),
        ("pyautogui.write(message='a')", [Gesture(Do.TYPE, text="a")]),
        ("pyautogui.press('enter')", [Gesture(Do.KEYS, keys=("enter",))]),
        ("pyautogui.press(keys=['up', 'up'])", [Gesture(Do.KEYS, keys=("up",))] * 2),
        ("pyautogui.hotkey(['ctrl', 'c'])", [Gesture(Do.KEYS, keys=("ctrl", "c"))]),
        ("pyautogui.hotkey('ctrl', 'c')", [Gesture(Do.KEYS, keys=("ctrl", "c"))]),
        ("pyautogui.scroll(-5)", [Gesture(Do.SCROLL, notches=(0, 5))]),
        ("pyautogui.hscroll(3)", [Gesture(Do.SCROLL, notches=(3, 0))]),
        ("computer.wait()", [Gesture(Do.WAIT, seconds=3)]),
        ("computer.terminate(status='success')", [Gesture(Do.DONE)]),
        ("computer.terminate(status='success', answer='42')", [Gesture(Do.ANSWER, text="42")]),
        ("computer.terminate(status='failure')", [Gesture(Do.GIVE_UP)]),
    ],
)  # fmt: skip
def test_opencua_code(code: str, gestures: list[Gesture]) -> None:
    text = f"# Step 1:\n## Thought: I look.\n## Action: do\n## Code:\n```python\n{code}\n```"
    parsed = OpenCuaParser().read(said(text))
    assert (list(parsed.gestures), parsed.fault) == (gestures, None)
    assert parsed.thought == "I look."


@pytest.mark.parametrize(
    "code",
    ["import os; os.system('id')", "__import__('os').system('id')", "pyautogui.click(open('x'))",
     "x = 1", "[c for c in 'a']", "pyautogui.write(f'{1}')"],
)  # fmt: skip
def test_code_is_never_run(code: str) -> None:
    parsed = OpenCuaParser().read(said(f"```python\n{code}\n```"))
    assert parsed.fault is not None
    assert parsed.gestures == ()


@pytest.mark.parametrize(
    ("text", "gestures"),
    [
        ("{'action': 'CLICK', 'value': None, 'position': [0.49, 0.42]}",
         [Gesture(Do.CLICK, ((0.49, 0.42),))]),
        ("{'action': 'TAP', 'value': None, 'position': (0.5, 0.1)}",
         [Gesture(Do.CLICK, ((0.5, 0.1),))]),
        ("{'action': 'INPUT', 'value': 'a', 'position': [0.5, 0.1]}",
         [Gesture(Do.CLICK, ((0.5, 0.1),)), Gesture(Do.TYPE, text="a")]),
        ("{'action': 'HOVER', 'value': None, 'position': [0.5, 0.1]}",
         [Gesture(Do.MOVE, ((0.5, 0.1),))]),
        ("{'action': 'SCROLL', 'value': 'down', 'position': None}",
         [Gesture(Do.SCROLL, ((0.5, 0.5),), notches=(0, 5))]),
        ("{'action': 'SWIPE', 'value': None, 'position': [[0.5, 0.9], [0.5, 0.1]]}",
         [Gesture(Do.DRAG, ((0.5, 0.9), (0.5, 0.1)))]),
        ("{'action': 'ENTER', 'value': None, 'position': None}",
         [Gesture(Do.KEYS, keys=("Return",))]),
        ("{'action': 'ANSWER', 'value': '42', 'position': None}", [Gesture(Do.ANSWER, text="42")]),
    ],
)  # fmt: skip
def test_showui_dicts(text: str, gestures: list[Gesture]) -> None:
    parsed = ShowUiParser().read(said(text))
    assert (list(parsed.gestures), parsed.fault) == (gestures, None)


@pytest.mark.parametrize(
    "text", ["(322,609)", "(322, 609)", " 322,609\n", "The icon is at (322,609)."]
)
def test_gta1_points(text: str) -> None:
    assert Gta1Parser().read(said(text)).gestures == (Gesture(Do.CLICK, ((322, 609),)),)


@pytest.mark.parametrize(
    ("parser", "text", "kind"),
    [
        (QwenParser(), "I am done.", FaultKind.NO_CALL),
        (QwenParser(), qwen('{"action": "fly"}'), FaultKind.UNKNOWN_ACTION),
        (QwenParser(), qwen("{").replace("computer_use", "sh"), FaultKind.UNPARSABLE),
        (QwenParser(), '<tool_call>{"name": "sh", "arguments": {}}', FaultKind.UNKNOWN_ACTION),
        (QwenParser(), qwen('{"action": "left_click", "coordinate": [1]}'), FaultKind.BAD_ARGUMENTS),
        (UiTarsParser(), "Thought: hm", FaultKind.NO_CALL),
        (UiTarsParser(), "Action: click(", FaultKind.UNPARSABLE),
        (UiTarsParser(), "Action: fly()", FaultKind.UNKNOWN_ACTION),
        (UiTarsParser(), "Action: hotkey(key=';id')", FaultKind.UNKNOWN_KEY),
        (UiTarsParser(), "Action: click()", FaultKind.BAD_ARGUMENTS),
        (OpenCuaParser(), "pyautogui.click(x=0.1, y=0.1)", FaultKind.NO_CALL),
        (OpenCuaParser(), "```python\npyautogui.alert('x')\n```", FaultKind.UNKNOWN_ACTION),
        (ShowUiParser(), "{'action': 'FLY'}", FaultKind.UNKNOWN_ACTION),
        (ShowUiParser(), "{'action': 'CLICK', 'position': None}", FaultKind.BAD_ARGUMENTS),
        (Gta1Parser(), "I see nothing.", FaultKind.NO_CALL),
    ],
)  # fmt: skip
def test_faults_have_a_class(parser: Parser, text: str, kind: FaultKind) -> None:
    parsed = parser.read(said(text))
    assert parsed.fault is not None
    assert (parsed.gestures, parsed.fault.kind) == ((), kind)
