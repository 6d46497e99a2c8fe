"""Cases of the evaluators of a phone's screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from evaluators.phone import screen
from evaluators.testing.case import (
    CaseTable,
    another_way,
    corrupt,
    empty,
    forged,
    hostile,
    missing,
    near_miss,
    negative,
    nothing,
    positive,
)
from evaluators.testing.phone import PhoneFixture
from tests.evaluator_cases.phone_ways import elsewhere, front_cases, typed, ways

if TYPE_CHECKING:
    from evaluators.testing.case import Case, State
    from provisioning.protocols import Json

ACTIVITIES = "dumpsys activity activities"
DUMP = "uiautomator dump /dev/tty"
APP = "org.a"
NODE = f'text="Milk" resource-id="{APP}:id/title" package="{APP}" enabled="true" content-desc="Row"'


def shows(*nodes: str, front: str = f"{APP}/.Main") -> State:
    """Display nodes, with an activity in the foreground."""

    def put(fixture: PhoneFixture) -> None:
        fixture.shell.resume(front)
        fixture.shell.show(*nodes)

    return put


def answers(command: str, answer: str | int, front: str = "") -> State:
    """Set the output of one command."""

    def put(fixture: PhoneFixture) -> None:
        if front:
            fixture.shell.resume(front)
        fixture.shell.answers[command] = answer

    return put


def tree(body: str, front: str = f"{APP}/.Main") -> State:
    """Display a hierarchy from this XML."""
    output = f'<?xml version="1.0"?><hierarchy rotation="0">{body}</hierarchy>\nUI hierarchy dumped'
    return answers(DUMP, output, front)


def front(component: str) -> State:
    """Put an activity in the foreground."""
    return lambda fixture: fixture.shell.resume(component)


def _of_front(**args: Json) -> tuple[Case, ...]:
    header = "ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)\n"
    back = f"  * Hist #0: ActivityRecord{{1 u0 {APP}/.Main t2}}\n"
    return (
        negative("different application in front", front("org.b/.Main"), **args),
        missing("no reply", nothing, **args).expect_error(),
        missing("command fails", answers(ACTIVITIES, 1), **args).expect_error(),
        empty(
            "no activity in front",
            answers(ACTIVITIES, f"{header}  ResumedActivity: null\n"),
            **args,
        ),
        empty("empty output", answers(ACTIVITIES, ""), **args).expect_error(),
        corrupt(
            "error message of a different command",
            answers(ACTIVITIES, "error: device offline"),
            **args,
        ).expect_error(),
        hostile("only in the back stack", answers(ACTIVITIES, header + back), **args),
    )


def _of_tree(**args: Json) -> tuple[Case, ...]:
    doctype = '<!DOCTYPE x [<!ENTITY a "Milk">]>'
    return (
        missing("no reply", front(f"{APP}/.Main"), **args).expect_error(),
        missing(
            "different application", shows(NODE.replace(APP, "org.b"), front="org.b/.Main"), **args
        ),
        empty("empty screen", shows(), **args),
        empty("empty output", answers(DUMP, "", f"{APP}/.Main"), **args).expect_error(),
        corrupt(
            "truncated", answers(DUMP, f"<hierarchy><node {NODE}", f"{APP}/.Main"), **args
        ).expect_error(),
        corrupt(
            "broken XML", answers(DUMP, "<hierarchy><node></hierarchy>", f"{APP}/.Main"), **args
        ).expect_error(),
        hostile(
            "entities",
            answers(DUMP, f"{doctype}<hierarchy><node {NODE}/></hierarchy>", f"{APP}/.Main"),
            **args,
        ).expect_error(),
        hostile(
            "markup in a text",
            shows(f'text="&lt;node text=&quot;Milk&quot;/&gt;" package="{APP}x"'),
            **args,
        ),
    )


_TEXT: dict[str, Any] = {"text": "Milk", "package": APP}
_ELEMENT: dict[str, Any] = {"package": APP, "text": "Milk"}
_GONE: dict[str, Any] = {"package": APP, "text": "Error"}
_SWITCH: dict[str, Any] = {"package": APP, "label": "Wi-Fi", "on": "on"}
_LABEL = f'<node text="Wi-Fi" package="{APP}"/>'


def _switch(checked: str, more: str = "") -> str:
    return f'<node text="" checkable="true" checked="{checked}" package="{APP}" {more}/>'


def _text(text: str) -> str:
    return f'<node text="{text}" package="{APP}"/>'


def _at(node: str, top: int, bottom: int) -> str:
    """Return a node between two heights of the screen."""
    return node.replace("<node ", f'<node bounds="[0,{top}][400,{bottom}]" ')


def _row(*nodes: str) -> str:
    return f'<node package="{APP}">{"".join(nodes)}</node>'


_OFF: dict[str, Any] = {**_SWITCH, "on": "off"}
_ROWS = (_LABEL, _text("Data"), _switch("true"))
_TILE = _switch("true", 'content-desc="Wi-Fi"').replace("/>", f">{_LABEL}</node>")
_OTHER = "only the letter case of ignored parts changes"

TABLES = (
    CaseTable(
        screen.app_in_front,
        PhoneFixture,
        (
            positive("in front", front(f"{APP}/.Main"), package=APP),
            positive(
                "on top of a different running activity",
                answers(
                    ACTIVITIES,
                    f"ACTIVITY\n  topResumedActivity=ActivityRecord{{a u0 {APP}/.Main t3}}\n"
                    "  ResumedActivity: ActivityRecord{b u0 org.b/.Main t4}\n",
                ),
                package=APP,
            ),
            positive(
                "older Android",
                answers(
                    ACTIVITIES,
                    f"ACTIVITY\nactivities\n mResumedActivity: ActivityRecord{{a u0 {APP}/.Main t3}}\n",
                ),
                package=APP,
            ),
            near_miss("longer package name", front(f"{APP}.b/.Main"), package=APP),
            near_miss("shorter package name", front("org/.Main"), package=APP),
            *_of_front(package=APP),
            *front_cases(package=APP),
        ),
    ),
    CaseTable(
        screen.activity_in_front,
        PhoneFixture,
        (
            positive("short activity name", front(f"{APP}/.Main"), package=APP, activity=".Main"),
            positive(
                "full activity name", front(f"{APP}/.Main"), package=APP, activity=f"{APP}.Main"
            ),
            positive(
                "full activity name in the output",
                front(f"{APP}/{APP}.Main"),
                package=APP,
                activity=".Main",
            ),
            near_miss(
                "different activity", front(f"{APP}/.MainTwo"), package=APP, activity=".Main"
            ),
            near_miss(
                "same activity of a different application",
                front("org.b/.Main"),
                package=APP,
                activity=".Main",
            ),
            near_miss(
                "class of a different application",
                front(f"{APP}/org.b.Main"),
                package=APP,
                activity=".Main",
            ),
            near_miss(
                "empty expected values",
                answers(ACTIVITIES, "activities\n  ResumedActivity: null\n"),
                package="",
                activity="",
            ),
            *_of_front(package=APP, activity=".Main"),
            *front_cases(package=APP, activity=".Main"),
        ),
    ),
    CaseTable(
        screen.ui_text_shown,
        PhoneFixture,
        (
            another_way("invisible character", shows(NODE.replace("Milk", "Mi\u200blk")), **_TEXT),
            positive("text", shows(NODE), **_TEXT),
            positive("description", shows(NODE), **{**_TEXT, "text": "Row"}),
            positive("text and resource ID", shows(NODE), **_TEXT, resource_id="title"),
            positive("full resource ID", shows(NODE), **_TEXT, resource_id=f"{APP}:id/title"),
            negative("different text", shows(f'text="Eggs" package="{APP}"'), **_TEXT),
            near_miss("longer text", shows(f'text="Milk 2" package="{APP}"'), **_TEXT),
            near_miss("different letter case", shows(f'text="milk" package="{APP}"'), **_TEXT),
            near_miss("different resource ID", shows(NODE), **_TEXT, resource_id="itle"),
            *_of_tree(**_TEXT),
            *ways(
                _TEXT,
                elsewhere("Milk", APP),
                {
                    "as a content description": shows(f'content-desc="Milk" package="{APP}"'),
                    "typed into a text field": shows(typed("Milk", APP)),
                    "below a window of a different application": shows(
                        'text="x" package="org.b"',
                        f'text="Milk" package="{APP}" bounds="[0,0][9,9]"',
                    ),
                },
            ),
        ),
        equivalent={
            "*: args.resource_id: empty": "any resource ID",
            f"*{ACTIVITIES}*": "the output is ignored",
            "*dumpsys activity activities*": "the foreground activity is ignored",
        },
    ),
    CaseTable(
        screen.ui_element_shown,
        PhoneFixture,
        (
            another_way(
                "invisible character", shows(NODE.replace("Milk", "Mi\u200blk")), **_ELEMENT
            ),
            positive("by text", shows(NODE), **_ELEMENT),
            positive(
                "class name present", shows(f'class="android.widget.TextView" {NODE}'), **_ELEMENT
            ),
            *(
                positive(
                    state,
                    shows(f'{state}="true" text="Milk" package="{APP}"'),
                    **_ELEMENT,
                    state=state,
                )
                for state in get_args(screen.State)
            ),
            hostile(
                "hierarchy over the size limit",
                tree(f"<node {NODE}/>" + " " * (8 << 20)),
                **_ELEMENT,
            ).expect_error(),
            positive("by description", shows(NODE), package=APP, description="Row"),
            positive("by resource ID", shows(NODE), package=APP, resource_id="title"),
            positive(
                "by all arguments and a state",
                shows(NODE),
                **_ELEMENT,
                description="Row",
                resource_id="title",
                state="enabled",
            ),
            negative("different text", shows(f'text="Eggs" package="{APP}"'), **_ELEMENT),
            near_miss("longer text", shows(f'text="Milk 2" package="{APP}"'), **_ELEMENT),
            near_miss(
                "text as description", shows(f'content-desc="Milk" package="{APP}"'), **_ELEMENT
            ),
            near_miss(
                "text and resource ID of two different elements",
                shows(
                    f'text="Milk" package="{APP}"',
                    f'text="Eggs" resource-id="{APP}:id/title" package="{APP}"',
                ),
                **_ELEMENT,
                resource_id="title",
            ),
            near_miss("not in the state", shows(NODE), **_ELEMENT, state="checked"),
            near_miss("empty expected values", shows(NODE), package=APP),
            near_miss("only a state expected", shows(NODE), package=APP, state="enabled"),
            *_of_tree(**_ELEMENT),
            *ways(
                _ELEMENT,
                elsewhere("Milk", APP),
                {
                    "typed into a text field": shows(typed("Milk", APP)),
                    "one of two applications": shows('text="Milk" package="org.b"', NODE),
                },
            ),
        ),
        equivalent={
            "*: args.resource_id: empty": "any resource ID",
            "*: args.description: empty": "any description",
            "by all arguments and a state: args.text: empty": "any text",
            "*dumpsys activity activities*": "the foreground activity is ignored",
        },
    ),
    CaseTable(
        screen.ui_element_gone,
        PhoneFixture,
        (
            forged(
                "invisible character",
                shows(NODE, NODE.replace("Milk", "Err\u200bor")),
                **_GONE,
            ),
            positive("element not displayed", shows(NODE), **_GONE),
            negative("still displayed", shows(NODE, f'text="Error" package="{APP}"'), **_GONE),
            near_miss(
                "displayed as description", shows(f'content-desc="Error" package="{APP}"'), **_GONE
            ),
            near_miss(
                "displayed, but a different activity in front",
                shows(NODE, front="org.b/.Main"),
                **_GONE,
            ),
            near_miss("in front, but not displayed", shows(NODE.replace(APP, "org.b")), **_GONE),
            *_of_tree(**_GONE),
            *ways(
                _GONE,
                {
                    "below a window of a different application": shows(
                        'text="x" package="org.b"', front=f"{APP}/.Main"
                    ),
                    "nothing displayed yet": shows(f'text="" package="{APP}" bounds="[0,0][0,0]"'),
                    "displayed as description next to other elements": shows(
                        NODE, f'content-desc="Error" package="{APP}"'
                    ),
                    "displayed in a text field": shows(NODE, typed("Error", APP)),
                },
                {
                    "still in the hierarchy, without a size": shows(
                        NODE, f'text="Error" package="{APP}" bounds="[0,9][100,9]"'
                    ),
                    "still in the hierarchy, hidden": shows(
                        NODE, f'text="Error" package="{APP}" visible-to-user="false"'
                    ),
                    "displayed by a different application": shows(
                        NODE, 'text="Error" package="org.b"'
                    ),
                },
            ),
        ),
        equivalent={
            "*: args.text: *": "that text is not displayed either",
            "*uiautomator*: prints other": "the letter case of names is ignored",
        },
    ),
    CaseTable(
        screen.ui_switch_is,
        PhoneFixture,
        (
            another_way(
                "invisible character in the label",
                tree(_row(_LABEL.replace("Wi-Fi", "Wi-\u200bFi"), _switch("true"))),
                **_SWITCH,
            ),
            positive("next to its label", tree(_row(_LABEL, _switch("true"))), **_SWITCH),
            another_way(
                "switched off, with its state as text",
                tree(_row(_LABEL, _switch("false").replace('text=""', 'text="OFF"'))),
                **_OFF,
            ),
            another_way(
                "next to a button with a description",
                tree(
                    _row(
                        _row(_LABEL),
                        _row(
                            _switch("true"),
                            f'<node content-desc="More" class="android.widget.ImageButton" package="{APP}"/>',
                        ),
                    )
                ),
                **_SWITCH,
            ),
            *(
                forged(
                    f"next row's switch, without containers or a gap, {name}",
                    tree(_row(*(_at(node, *rows[place]) for place, node in enumerate(_ROWS)))),
                    **_SWITCH,
                )
                for name, rows in (
                    ("below", ((0, 50), (50, 99), (50, 99))),
                    ("above", ((50, 99), (0, 50), (0, 50))),
                )
            ),
            positive("switched off", tree(_row(_LABEL, _switch("false"))), **_OFF),
            positive(
                "switch with its own text",
                tree(_row(_switch("true").replace('text=""', 'text="Wi-Fi"'))),
                **_SWITCH,
            ),
            positive(
                "in a nested container of the row",
                tree(_row(_row(_LABEL), _row(_switch("true")))),
                **_SWITCH,
            ),
            positive(
                "first of two rows",
                tree(_row(_row(_LABEL, _switch("true")), _row(_switch("false")))),
                **_SWITCH,
            ),
            positive(
                "by description",
                tree(_row(_LABEL.replace("text", "content-desc"), _switch("true"))),
                **_SWITCH,
            ),
            negative("off instead of on", tree(_row(_LABEL, _switch("false"))), **_SWITCH),
            negative("on instead of off", tree(_row(_LABEL, _switch("true"))), **_OFF),
            near_miss(
                "switch of a different row",
                tree(_row(_row(_LABEL, _switch("false")), _row(_switch("true")))),
                **_SWITCH,
            ),
            near_miss(
                "two switches in the row",
                tree(_row(_LABEL, _switch("true"), _switch("false"))),
                **_SWITCH,
            ),
            near_miss(
                "duplicate label",
                tree(_row(_row(_LABEL, _switch("true")), _row(_LABEL, _switch("true")))),
                **_SWITCH,
            ),
            near_miss("no switch", tree(_row(_LABEL)), **_OFF),
            near_miss(
                "empty expected label", tree(_row(_switch("true"))), **{**_SWITCH, "label": ""}
            ),
            *_of_tree(**_SWITCH),
            *ways(
                _SWITCH,
                {
                    "next row's switch": tree(
                        _row(_row(_LABEL), _row(_text("Data"), _switch("true")))
                    ),
                    "next row's switch, in a row with nested containers": tree(
                        _row(_row(_LABEL), _row(_row(_text("Data")), _row(_switch("true"))))
                    ),
                    "switch of the next row, whose label is the row's description": tree(
                        _row(
                            _row(_LABEL),
                            _row(_switch("true")).replace(">", ' content-desc="Data">', 1),
                        )
                    ),
                    "next tile, which is a switch itself": tree(
                        _row(_LABEL, _switch("true").replace("/>", f">{_text('Data')}</node>"))
                    ),
                    "next switch, with a text of its own": tree(
                        _row(_LABEL, _switch("true").replace('text=""', 'text="Data"'))
                    ),
                    "next switch, whose own text contains the label": tree(
                        _row(
                            _at(_LABEL, 0, 50),
                            _at(_switch("true"), 60, 110).replace('text=""', 'text="Wi-Fi only"'),
                        )
                    ),
                    "next row's switch, without containers": tree(
                        _row(
                            _at(_LABEL, 0, 50),
                            _at(_text("Data"), 60, 110),
                            _at(_switch("true"), 60, 110),
                        )
                    ),
                    "in a different application": tree(
                        _row(_LABEL, _switch("true")).replace(APP, "org.b")
                    ),
                    "label of a different application": tree(
                        _row(_LABEL.replace(APP, "org.b"), _switch("true"))
                    ),
                    "label without a size": tree(
                        _row(_LABEL.replace("/>", ' bounds="[1,1][1,1]"/>'), _switch("true"))
                    ),
                    "text instead of a switch": tree(
                        _row(_LABEL, f'<node text="On" package="{APP}"/>')
                    ),
                },
                {
                    "before its label": tree(_row(_switch("true"), _LABEL)),
                    "tile with its label as description and as text within": tree(_TILE),
                    "tile with its label as description and as text within, next to others": tree(
                        _row(_TILE, _TILE.replace("Wi-Fi", "Data"), _row(_text("Wallet")))
                    ),
                    "described like its label": tree(
                        _row(_LABEL, _switch("true", 'content-desc="Wi-Fi"'))
                    ),
                    "described by a sentence with its label": tree(
                        _row(
                            _at(_LABEL, 0, 50),
                            _at(_switch("true", 'content-desc="Use wi-fi"'), 5, 40),
                        )
                    ),
                    "with its state as text": tree(
                        _row(_LABEL, _switch("true").replace('text=""', 'text="ON"'))
                    ),
                    "next to a summary": tree(
                        _row(_row(_LABEL, _text("Connected")), _row(_switch("true")))
                    ),
                    "next to a summary, without containers": tree(
                        _row(
                            _at(_LABEL, 0, 50),
                            _at(_text("Connected"), 50, 90),
                            _at(_switch("true"), 20, 70),
                        )
                    ),
                    "next to an icon with a description": tree(
                        _row(
                            _row(_LABEL),
                            _row(
                                _switch("true"),
                                f'<node content-desc="More" class="android.widget.ImageView" package="{APP}"/>',
                            ),
                        )
                    ),
                    "above its switch": tree(
                        _row(_at(_LABEL, 0, 50), _at(_switch("true"), 60, 110))
                    ),
                    "description of the row": tree(
                        _row(_switch("true")).replace(">", ' content-desc="Wi-Fi">', 1)
                    ),
                    "below a header with the same text": tree(
                        _row(
                            _row(_LABEL),
                            _row(_text("Data")),
                            _row(_LABEL, _text("Connected"), _switch("true")),
                        )
                    ),
                    "after a second label without a size": tree(
                        _row(_LABEL.replace("/>", ' bounds="[1,1][1,1]"/>'))
                        + _row(_LABEL, _switch("true"))
                    ),
                },
            ),
        ),
        equivalent={"*dumpsys activity activities*": "the foreground activity is ignored"},
    ),
)
