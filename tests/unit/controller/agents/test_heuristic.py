from __future__ import annotations

from typing import TYPE_CHECKING

from controller.actions.space import ActionSpace
from controller.actions.vocabulary import action_tools
from controller.agents.heuristic import MAX_ACTIONS, HeuristicAgent
from controller.observation.observer import Observation
from controller.protocol import AgentContext
from evaluators.graph.outcome import Verdict
from provisioning.protocols import Bounds, Element
from provisioning.resource import DESKTOP, PHONE
from tests.unit.controller.bench import Bench, make_task

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.actions.space import Action

SPACE = ActionSpace({"desktop": DESKTOP, "phone": PHONE}, action_tools())


def agent(instruction: str) -> HeuristicAgent:
    return HeuristicAgent(AgentContext(instruction, SPACE, seed=0))


def act(one: HeuristicAgent, **trees: Sequence[Element]) -> Action:
    (action,) = one.act(Observation(0, {}, trees=trees)).actions
    return action


def element(name: str, top: int, role: str = "push button", *states: str) -> Element:
    return Element(role, name, Bounds(0, top, 100, top + 20), frozenset(states))


def test_it_opens_the_applications_that_the_instruction_names_in_order() -> None:
    one = agent("Look it up in the phone's Contacts, then open the file a.txt in the text editor.")
    opened = [act(one) for _ in range(3)]
    # A file is opened from its folder.
    assert [(action.on, action.args.get("name")) for action in opened[:2]] == [
        ("desktop", "Files"),
        ("phone", "Contacts"),
    ]
    assert opened[2].do == "complete"
    one = agent("Start the Calculator and the text editor.")
    names = [act(one).args.get("name") for _ in range(2)]
    assert names == ["Calculator", "Text Editor"]


def test_it_acts_on_the_best_match_and_never_twice_on_the_same() -> None:
    one = agent('Press "Save as" for the report.')
    tree = [element("Cancel", 0), element("report", 20), element("Save as", 40)]
    assert [act(one, desktop=tree).args.get("y") for _ in range(2)] == [50, 30]
    assert act(one, desktop=tree).do == "complete"


def test_it_ticks_the_box_beside_a_task() -> None:
    one = agent('Tick off "Book the dentist".')
    tree = [
        element("", 100, "android.widget.CheckBox", "checkable"),
        element("Book the dentist", 100, "android.widget.TextView"),
        Element(
            "android.widget.CheckBox", "", Bounds(300, 200, 320, 220), frozenset({"checkable"})
        ),
    ]
    action = act(one, phone=tree)
    assert (action.on, action.do, action.args) == ("phone", "tap", {"x": 50, "y": 110})


def test_icons_are_opened_by_two_clicks() -> None:
    one = agent("Open packing.txt.")
    act(one)
    assert act(one, desktop=[element("packing.txt", 0, "icon")]).do in {"double_click", "complete"}


def test_windows_and_their_buttons_in_the_panel_are_no_targets() -> None:
    one = agent("Read report.txt.")
    tree = [
        element("report.txt - gedit", 0, "frame"),
        element("[report.txt - gedit]", 20, "toggle button"),
        element("report.txt", 40, "label"),
        element("report.txt", 60, "canvas"),
    ]
    assert [act(one, desktop=tree).args.get("y") for _ in range(2)] == [70, None]


def test_a_screen_that_keeps_changing_does_not_keep_it_busy() -> None:
    one = agent("Press Report.")
    actions = [act(one, desktop=[element("Report", n)]) for n in range(MAX_ACTIONS + 1)]
    assert [action.do for action in actions[:2]] == ["click", "click"]
    assert actions[-1].do == "complete"


def test_it_scores_above_zero_where_doing_nothing_does_not(bench: Bench) -> None:
    node = {
        "on": "phone",
        "check": "app_in_front",
        "with": {"package": "com.google.android.apps.tasks"},
    }
    task = make_task(
        instruction="Open the Tasks app on the phone.",
        roles={"phone": "phone"},
        graph=[{"id": "opened", **node, "mode": "once"}],
        oracle=[{"on": "phone", "do": "open_app", "with": {"name": "Tasks"}}],
    )
    bench.with_trees = True
    assert bench.run(task, HeuristicAgent).verdict is Verdict.PASS
