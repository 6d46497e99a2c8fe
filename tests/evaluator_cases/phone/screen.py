"""Cases of evaluators of what a phone shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from evaluators.phone import screen
from evaluators.testing.case import (
    CaseTable,
    corrupt,
    empty,
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
    """Show nodes, an activity in front."""

    def put(fixture: PhoneFixture) -> None:
        fixture.shell.resume(front)
        fixture.shell.show(*nodes)

    return put


def answers(command: str, answer: str | int, front: str = "") -> State:
    """Answer one command."""

    def put(fixture: PhoneFixture) -> None:
        if front:
            fixture.shell.resume(front)
        fixture.shell.answers[command] = answer

    return put


def tree(body: str, front: str = f"{APP}/.Main") -> State:
    """Show a hierarchy of this XML."""
    output = f'<?xml version="1.0"?><hierarchy rotation="0">{body}</hierarchy>\nUI hierarchy dumped'
    return answers(DUMP, output, front)


def front(component: str) -> State:
    """Let an activity be in front."""
    return lambda fixture: fixture.shell.resume(component)


def _of_front(**args: Json) -> tuple[Case, ...]:
    header = "ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)\n"
    back = f"  * Hist #0: ActivityRecord{{1 u0 {APP}/.Main t2}}\n"
    return (
        negative("another", front("org.b/.Main"), **args),
        missing("no answer", nothing, **args).expect_error(),
        missing("it fails", answers(ACTIVITIES, 1), **args).expect_error(),
        empty(
            "nothing in front", answers(ACTIVITIES, f"{header}  ResumedActivity: null\n"), **args
        ),
        empty("it says nothing", answers(ACTIVITIES, ""), **args).expect_error(),
        corrupt(
            "another command's words", answers(ACTIVITIES, "error: device offline"), **args
        ).expect_error(),
        hostile("in the back stack only", answers(ACTIVITIES, header + back), **args),
    )


def _of_tree(**args: Json) -> tuple[Case, ...]:
    doctype = '<!DOCTYPE x [<!ENTITY a "Milk">]>'
    return (
        missing("no answer", front(f"{APP}/.Main"), **args).expect_error(),
        missing(
            "another application", shows(NODE.replace(APP, "org.b"), front="org.b/.Main"), **args
        ),
        empty("an empty screen", shows(), **args),
        empty("it says nothing", answers(DUMP, "", f"{APP}/.Main"), **args).expect_error(),
        corrupt(
            "cut off", answers(DUMP, f"<hierarchy><node {NODE}", f"{APP}/.Main"), **args
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


def _row(*nodes: str) -> str:
    return f'<node package="{APP}">{"".join(nodes)}</node>'


_OFF: dict[str, Any] = {**_SWITCH, "on": "off"}
_OTHER = "another letter case in what does not count"

TABLES = (
    CaseTable(
        screen.app_in_front,
        PhoneFixture,
        (
            positive("in front", front(f"{APP}/.Main"), package=APP),
            positive(
                "above another that goes on",
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
            near_miss("a longer name", front(f"{APP}.b/.Main"), package=APP),
            near_miss("a shorter name", front("org/.Main"), package=APP),
            *_of_front(package=APP),
            *front_cases(package=APP),
        ),
    ),
    CaseTable(
        screen.activity_in_front,
        PhoneFixture,
        (
            positive("short", front(f"{APP}/.Main"), package=APP, activity=".Main"),
            positive("whole", front(f"{APP}/.Main"), package=APP, activity=f"{APP}.Main"),
            positive(
                "whole on the phone", front(f"{APP}/{APP}.Main"), package=APP, activity=".Main"
            ),
            near_miss("another activity", front(f"{APP}/.MainTwo"), package=APP, activity=".Main"),
            near_miss(
                "of another application", front("org.b/.Main"), package=APP, activity=".Main"
            ),
            near_miss(
                "another application's class",
                front(f"{APP}/org.b.Main"),
                package=APP,
                activity=".Main",
            ),
            near_miss(
                "nothing asked for",
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
            positive("a text", shows(NODE), **_TEXT),
            positive("a description", shows(NODE), **{**_TEXT, "text": "Row"}),
            positive("a text and an id", shows(NODE), **_TEXT, resource_id="title"),
            positive("a whole id", shows(NODE), **_TEXT, resource_id=f"{APP}:id/title"),
            negative("another", shows(f'text="Eggs" package="{APP}"'), **_TEXT),
            near_miss("longer", shows(f'text="Milk 2" package="{APP}"'), **_TEXT),
            near_miss("other case", shows(f'text="milk" package="{APP}"'), **_TEXT),
            near_miss("another id", shows(NODE), **_TEXT, resource_id="itle"),
            *_of_tree(**_TEXT),
            *ways(
                _TEXT,
                elsewhere("Milk", APP),
                {
                    "as a description": shows(f'content-desc="Milk" package="{APP}"'),
                    "typed into a field": shows(typed("Milk", APP)),
                    "below another application's window": shows(
                        'text="x" package="org.b"',
                        f'text="Milk" package="{APP}" bounds="[0,0][9,9]"',
                    ),
                },
            ),
        ),
        equivalent={
            "*: args.resource_id: empty": "any id",
            f"*{ACTIVITIES}*": "it does not matter",
            "*dumpsys activity activities*": "what is in front does not count",
        },
    ),
    CaseTable(
        screen.ui_element_shown,
        PhoneFixture,
        (
            positive("by text", shows(NODE), **_ELEMENT),
            positive("of a class", shows(f'class="android.widget.TextView" {NODE}'), **_ELEMENT),
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
                "more than any screen holds",
                tree(f"<node {NODE}/>" + " " * (8 << 20)),
                **_ELEMENT,
            ).expect_error(),
            positive("by description", shows(NODE), package=APP, description="Row"),
            positive("by id", shows(NODE), package=APP, resource_id="title"),
            positive(
                "by all and a state",
                shows(NODE),
                **_ELEMENT,
                description="Row",
                resource_id="title",
                state="enabled",
            ),
            negative("another", shows(f'text="Eggs" package="{APP}"'), **_ELEMENT),
            near_miss("longer", shows(f'text="Milk 2" package="{APP}"'), **_ELEMENT),
            near_miss(
                "the text as description", shows(f'content-desc="Milk" package="{APP}"'), **_ELEMENT
            ),
            near_miss(
                "text and id of two elements",
                shows(
                    f'text="Milk" package="{APP}"',
                    f'text="Eggs" resource-id="{APP}:id/title" package="{APP}"',
                ),
                **_ELEMENT,
                resource_id="title",
            ),
            near_miss("not in that state", shows(NODE), **_ELEMENT, state="checked"),
            near_miss("nothing asked for", shows(NODE), package=APP),
            near_miss("a state asked for only", shows(NODE), package=APP, state="enabled"),
            *_of_tree(**_ELEMENT),
            *ways(
                _ELEMENT,
                elsewhere("Milk", APP),
                {
                    "typed into a field": shows(typed("Milk", APP)),
                    "one of two": shows('text="Milk" package="org.b"', NODE),
                },
            ),
        ),
        equivalent={
            "*: args.resource_id: empty": "any id",
            "*: args.description: empty": "any description",
            "by all and a state: args.text: empty": "any text",
            "*dumpsys activity activities*": "what is in front does not count",
        },
    ),
    CaseTable(
        screen.ui_element_gone,
        PhoneFixture,
        (
            positive("gone", shows(NODE), **_GONE),
            negative("still there", shows(NODE, f'text="Error" package="{APP}"'), **_GONE),
            near_miss(
                "there as description", shows(f'content-desc="Error" package="{APP}"'), **_GONE
            ),
            near_miss("seen, but another in front", shows(NODE, front="org.b/.Main"), **_GONE),
            near_miss("in front, but not seen", shows(NODE.replace(APP, "org.b")), **_GONE),
            *_of_tree(**_GONE),
            *ways(
                _GONE,
                {
                    "below another application's window": shows(
                        'text="x" package="org.b"', front=f"{APP}/.Main"
                    ),
                    "nothing is shown yet": shows(f'text="" package="{APP}" bounds="[0,0][0,0]"'),
                    "told by description": shows(NODE, f'content-desc="Error" package="{APP}"'),
                    "in another place": shows(NODE, typed("Error", APP)),
                },
                {
                    "still in the tree, without a size": shows(
                        NODE, f'text="Error" package="{APP}" bounds="[0,9][100,9]"'
                    ),
                    "still in the tree, hidden": shows(
                        NODE, f'text="Error" package="{APP}" visible-to-user="false"'
                    ),
                    "shown by another application": shows(NODE, 'text="Error" package="org.b"'),
                },
            ),
        ),
        equivalent={
            "*: args.text: *": "another text is not shown either",
            "*uiautomator*: prints other": "letter case of names does not count",
        },
    ),
    CaseTable(
        screen.ui_switch_is,
        PhoneFixture,
        (
            positive("beside its label", tree(_row(_LABEL, _switch("true"))), **_SWITCH),
            positive("off", tree(_row(_LABEL, _switch("false"))), **_OFF),
            positive(
                "with its own text",
                tree(_row(_switch("true").replace('text=""', 'text="Wi-Fi"'))),
                **_SWITCH,
            ),
            positive(
                "in a box within the row",
                tree(_row(_row(_LABEL), _row(_switch("true")))),
                **_SWITCH,
            ),
            positive(
                "of two rows",
                tree(_row(_row(_LABEL, _switch("true")), _row(_switch("false")))),
                **_SWITCH,
            ),
            positive(
                "by description",
                tree(_row(_LABEL.replace("text", "content-desc"), _switch("true"))),
                **_SWITCH,
            ),
            negative("off, not on", tree(_row(_LABEL, _switch("false"))), **_SWITCH),
            negative("on, not off", tree(_row(_LABEL, _switch("true"))), **_OFF),
            near_miss(
                "another row's",
                tree(_row(_row(_LABEL, _switch("false")), _row(_switch("true")))),
                **_SWITCH,
            ),
            near_miss(
                "two in the row", tree(_row(_LABEL, _switch("true"), _switch("false"))), **_SWITCH
            ),
            near_miss(
                "the label twice",
                tree(_row(_row(_LABEL, _switch("true")), _row(_LABEL, _switch("true")))),
                **_SWITCH,
            ),
            near_miss("no switch", tree(_row(_LABEL)), **_OFF),
            near_miss(
                "no label asked for", tree(_row(_switch("true"))), **{**_SWITCH, "label": ""}
            ),
            *_of_tree(**_SWITCH),
            *ways(
                _SWITCH,
                {
                    "in another application of that title": tree(
                        _row(_LABEL, _switch("true")).replace(APP, "org.b")
                    ),
                    "another application's label": tree(
                        _row(_LABEL.replace(APP, "org.b"), _switch("true"))
                    ),
                    "a label without a size": tree(
                        _row(_LABEL.replace("/>", ' bounds="[1,1][1,1]"/>'), _switch("true"))
                    ),
                    "a word that says so": tree(_row(_LABEL, f'<node text="On" package="{APP}"/>')),
                },
                {
                    "above its label": tree(_row(_switch("true"), _LABEL)),
                    "below a second label without a size": tree(
                        _row(_LABEL.replace("/>", ' bounds="[1,1][1,1]"/>'))
                        + _row(_LABEL, _switch("true"))
                    ),
                },
            ),
        ),
        equivalent={"*dumpsys activity activities*": "what is in front does not count"},
    ),
)
