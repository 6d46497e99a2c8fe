"""The accessibility tree walk finds visible elements, and ends in time if applications hang."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from provisioning.probe.accessibility import tree, tree_walk
from provisioning.probe.accessibility.client import (
    CHILD,
    CHILDREN,
    EXTENTS,
    ITEMS,
    PROPERTY,
    ROLE,
    STATES,
    Query,
    Ref,
)
from provisioning.probe.accessibility.documents import ATTRIBUTE, PROCESS, Documents
from provisioning.probe.serving.params import Params

if TYPE_CHECKING:
    from collections.abc import Sequence

ROLES = ["", "application", "frame", "panel", "menu", "menu item", "menu bar", "root pane", "text",
         "push button", "table", "table cell", "document web", "tool bar",
         "image"]  # fmt: skip
ACTIVE, BUSY, MULTI_LINE = 1, 3, 17
NAMES: Any = SimpleNamespace(
    showing=25,
    active=ACTIVE,
    busy=BUSY,
    multi_line=MULTI_LINE,
    menu=ROLES.index("menu"),
    text=ROLES.index("text"),
    cell=ROLES.index("table cell"),
    image=ROLES.index("image"),
    popups=frozenset(map(ROLES.index, ("menu", "menu item", "menu bar"))),
    documents=frozenset({ROLES.index("document web")}),
    controls=frozenset(map(ROLES.index, ("menu bar", "menu", "tool bar"))),
    role=lambda number: "application" if number == 75 else ROLES[number],
    state=str,
)
_REGISTRY = "org.a11y.atspi.Registry"
_ASKING_S = 2.5


@dataclass
class Node:
    """An accessible object."""

    role: str
    box: tuple[int, int, int, int] | None = None
    below: tuple[Node, ...] = ()
    shows: bool = True
    claims: int | None = None
    """Number of children that it claims to have."""
    path: str = ""
    states: int = 0
    """Bit mask of states other than *showing*."""
    name: str | None = None
    """Its role, if it has no name of its own."""
    url: str = ""
    characters: int = 0

    @property
    def mask(self) -> int:
        return self.states | int(self.shows) << 25

    @property
    def label(self) -> str:
        return self.role if self.name is None else self.name


def node(role: str, *box: int, below: Sequence[Node] = (), shows: bool = True) -> Node:
    left, top, width, height = box
    return Node(role, (left, top, width, height), tuple(below), shows)


@dataclass
class Session:
    """Fake applications; with `has_bulk_replies`, they report all their objects in one reply."""

    apps: tuple[Node, ...]
    has_bulk_replies: bool = False
    answers: bool = True
    now_s: float = 0.0
    asked: list[Query] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._nodes: dict[Ref, Node] = {}
        self._parents: dict[Ref, tuple[Ref, int]] = {}
        for number, app in enumerate(self.apps):
            self._add(app, Ref(f":1.{number}", "/root"), Ref(_REGISTRY, "/"), number)

    def _add(self, widget: Node, ref: Ref, parent: Ref, place: int) -> None:
        self._nodes[ref], self._parents[ref] = widget, (parent, place)
        for number, child in enumerate(widget.below):
            self._add(child, Ref(ref.bus, f"{ref.path}/{number}"), ref, number)

    def begin(self) -> None:
        self.asked = []

    def ask(
        self, queries: Sequence[Query], deadline_s: float, timeout_s: float = _ASKING_S
    ) -> list[Any]:
        self.asked += queries
        return [self._answer(query, timeout_s) for query in queries]

    def _answer(self, query: Query, timeout_s: float) -> Any:  # noqa: ANN401
        ref, method = query.ref, query.method
        if method is PROCESS:
            return (100 + int(query.arguments[0].removeprefix(":1.")),)
        if ref.bus == _REGISTRY:
            return ([Ref(f":1.{number}", "/root") for number in range(len(self.apps))],)
        if method is ITEMS:
            return (
                ([self._row(other) for other in self._nodes if other.bus == ref.bus],)
                if self.has_bulk_replies
                else None
            )
        widget = self._nodes[ref]
        if not self.answers and widget.role != "application":
            self.now_s += timeout_s
            return None
        count = len(widget.below) if widget.claims is None else widget.claims
        below = [Ref(ref.bus, f"{ref.path}/{number}") for number in range(len(widget.below))]
        if method is CHILD:
            (place,) = query.arguments
            return (below[place],) if place < len(below) else None
        properties = {"ChildCount": count, "CharacterCount": widget.characters}
        answers: dict[Any, Any] = {
            CHILDREN: (below,),
            STATES: ([widget.mask, 0],),
            ROLE: (ROLES.index(widget.role),),
            EXTENTS: None if widget.box is None else (widget.box,),
            PROPERTY: (properties.get(query.arguments[-1], widget.label),)
            if query.arguments
            else None,
            ATTRIBUTE: (widget.url,) if widget.url else None,
        }
        return answers[method]

    def _row(self, ref: Ref) -> tuple[Any, ...]:
        widget, (parent, place) = self._nodes[ref], self._parents[ref]
        states = [widget.mask, 0]
        count = len(widget.below) if widget.claims is None else widget.claims
        return ref, ref, parent, place, count, [], widget.role, ROLES.index(widget.role), "", states


def app(*below: Node) -> Node:
    return Node("application", None, below)


def rows_of(*apps: Node, has_bulk_replies: bool = False) -> list[dict[str, Any]]:
    return tree.Walker(Session(apps, has_bulk_replies), NAMES).tree(Params({}, timeout_s=10.0))


def menu(shows: bool, entries: int = 400) -> Node:
    entry = [node("menu item", 0, 90, 100, 20, shows=shows) for _ in range(entries)]
    return node("menu", 0, 61, 40, 25, below=entry)


def test_entries_of_closed_menus_are_not_queried() -> None:
    session = Session((app(menu(shows=False)),))
    walker = tree.Walker(session, NAMES)
    assert [row["role"] for row in walker.tree(Params({}, timeout_s=10.0))] == ["menu"]
    assert len(session.asked) < 20
    opened = rows_of(app(menu(shows=True, entries=30)))
    assert [row["role"] for row in opened] == ["menu", *["menu item"] * 30]


@pytest.mark.parametrize("has_bulk_replies", [False, True])
def test_libreoffice_elements_are_below_its_menu_bar(has_bulk_replies: bool) -> None:
    # As reported by LibreOffice 7.3 Calc with the GTK 3 plug-in; a screenshot showed Save at y 105.
    save = node("push button", 92, 63, 44, 35)
    gtk = node("panel", 4, 166, 173, 34, below=[node("text", 4, 166, 137, 34)])
    name_box = node("panel", 4, 141, 173, 34, below=[gtk])
    unseen = node("menu bar", 0, 61, 1280, 0, below=[menu(shows=True)])
    root = node("root pane", 0, 61, 1280, 690, below=[unseen, save, name_box])
    window = node("panel", 0, 86, 1280, 690, below=[root])
    frame = node("frame", 0, 24, 1280, 752, below=[menu(shows=False), window])
    rows = [
        (row["role"], row["bounds"])
        for row in rows_of(app(frame), has_bulk_replies=has_bulk_replies)
    ]
    assert rows == [
        ("frame", [0, 24, 1280, 776]),
        ("menu", [0, 61, 40, 86]),
        ("panel", [0, 86, 1280, 776]),
        ("root pane", [0, 86, 1280, 776]),
        ("push button", [92, 88, 136, 123]),
        ("panel", [4, 166, 177, 200]),
        ("panel", [4, 166, 177, 200]),
        ("text", [4, 166, 141, 200]),
    ]


def test_large_sheet_returns_visible_cells() -> None:
    cells = [node("table cell", 10 * n, 0, 10, 10, shows=n < 15) for n in range(400)]
    sheet = node("table", 0, 0, 900, 500, below=cells)
    sheet.claims = 2**31 - 1
    save = node("push button", 0, 600, 40, 30)
    session = Session((app(node("frame", 0, 0, 900, 700, below=[sheet, save])),))
    rows = tree.Walker(session, NAMES).tree(Params({}, timeout_s=10.0))
    assert [row["role"] for row in rows] == [
        "frame", "table", *["table cell"] * 15, "push button",
    ]  # fmt: skip
    assert sum(query.method is CHILD for query in session.asked) <= 64


def test_bulk_replies_of_an_application_are_not_queried_again() -> None:
    frame = node("frame", 0, 0, 90, 90, below=[node("text", 0, 0, 9, 9) for _ in range(40)])
    session = Session((app(frame),), has_bulk_replies=True)
    rows = tree.Walker(session, NAMES).tree(Params({}, timeout_s=10.0))
    assert len(rows) == 41
    kinds = {query.method for query in session.asked}
    assert kinds == {CHILDREN, PROPERTY, ITEMS, EXTENTS}, "the registry's children, and a count"


def test_self_containing_objects_are_shown_once() -> None:
    inner = node("panel", 0, 0, 9, 9)
    inner.claims = 1
    session = Session((app(node("frame", 0, 0, 90, 90, below=[inner])),))
    real, ref = session._answer, Ref(":1.0", "/root/0/0")

    def answer(query: Query, timeout_s: float) -> Any:  # noqa: ANN401
        is_asked = query.ref == ref and query.method is CHILDREN
        return ([ref],) if is_asked else real(query, timeout_s)

    session._answer = answer  # type: ignore[method-assign]
    rows = tree.Walker(session, NAMES).tree(Params({}, timeout_s=10.0))
    assert [row["role"] for row in rows] == ["frame", "panel"]


def test_application_reports_only_its_own_objects() -> None:
    mine = node("frame", 0, 0, 90, 90)
    session = Session((app(mine), app()), has_bulk_replies=True)
    real = session._row

    def row(ref: Ref) -> tuple[Any, ...]:
        fields = real(ref)
        return (
            (fields[0], fields[1], Ref(":1.1", "/root"), *fields[3:])
            if ref.path != "/root"
            else fields
        )

    session._row = row  # type: ignore[method-assign]
    rows = tree.Walker(session, NAMES).tree(Params({}, timeout_s=10.0))
    assert [row["role"] for row in rows] == ["frame"], "asked for, below its own application"


def test_unresponsive_children_take_no_more_than_the_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    many = [node("panel", 0, 0, 9, 9) for _ in range(400)]
    session = Session((app(*many),), answers=False)
    for module in (tree, tree_walk):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: session.now_s))
    session.ask = bounded(session)  # type: ignore[method-assign]
    assert tree.Walker(session, NAMES).tree(Params({}, timeout_s=10.0)) == []
    assert session.now_s < 10.0


@pytest.mark.parametrize(("timeout_s", "shown"), [(10.0, []), (60.0, ["panel"])])
def test_longer_deadline_gives_applications_more_time(timeout_s: float, shown: list[str]) -> None:
    session = Session((app(node("panel", 0, 0, 9, 9)),))
    answer = session._answer

    def answer_late(query: Query, timeout_s: float) -> Any:  # noqa: ANN401
        is_late = query.ref.bus != _REGISTRY and timeout_s < 4.0
        return None if is_late else answer(query, timeout_s)

    session._answer = answer_late  # type: ignore[method-assign]
    rows = tree.Walker(session, NAMES).tree(Params({}, timeout_s=timeout_s))
    assert [row["role"] for row in rows] == shown


def bounded(session: Session) -> Any:  # noqa: ANN401
    """Return an `ask` that waits for all answers together, like the bus."""
    ask = session.ask

    def together(
        queries: Sequence[Query], deadline_s: float, timeout_s: float = _ASKING_S
    ) -> list[Any]:
        start_s = session.now_s
        answers = ask(queries, deadline_s, timeout_s)
        is_waiting = session.now_s > start_s
        session.now_s = min(start_s + timeout_s, deadline_s) if is_waiting else start_s
        return answers

    return together


def two_windows(*, menu_is_open: bool) -> tuple[Node, Node]:
    """An application with a large inactive window, and one with an active one."""
    many = [node("panel", 0, 0, 9, 9) for _ in range(40)]
    large = app(node("frame", 0, 0, 900, 700, below=many))
    entries = [node("menu item", 0, 9 * n, 90, 9, shows=menu_is_open) for n in range(4)]
    bar = node("menu bar", 0, 0, 90, 9, below=[node("menu", 0, 0, 9, 9, below=entries)])
    buttons = [node("push button", 0, 0, 9, 9) for _ in range(40)]
    window = node("frame", 0, 0, 900, 700, below=[*buttons, bar])
    window.states = 1 << ACTIVE
    return large, app(window)


def test_cut_tree_has_open_menus_and_the_active_window_first() -> None:
    session = Session(two_windows(menu_is_open=True), has_bulk_replies=True)
    rows = tree.Walker(session, NAMES).tree(Params({"max_nodes": 50}, timeout_s=10.0))
    roles = [row["role"] for row in rows]
    assert roles.count("menu item") == 4
    assert roles.count("push button") == 40
    assert roles.count("panel") == 2, "what is left for the other window"


def test_search_finds_what_a_cut_tree_leaves_out() -> None:
    session = Session(two_windows(menu_is_open=True))
    walker = tree.Walker(session, NAMES)
    found = walker.find(Params({"role": "panel"}, timeout_s=10.0))
    assert (len(found["nodes"]), found["cut"]) == (40, "")
    measured = sum(query.method is EXTENTS for query in session.asked)
    assert measured <= 42, "only matches and what contains them"
    assert walker.find(Params({"role": "panel", "name": "Other"}, timeout_s=10.0))["nodes"] == []


def test_search_reports_that_it_was_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "_MAX_SEARCHED", 20)
    found = tree.Walker(Session(two_windows(menu_is_open=True)), NAMES).find(
        Params({"role": "panel"}, timeout_s=10.0)
    )
    assert found["cut"] == "nodes"


def test_found_elements_have_the_positions_of_the_tree() -> None:
    save = node("push button", 92, 63, 44, 35)
    root = node("root pane", 0, 61, 1280, 690, below=[save])
    frame = node("frame", 0, 24, 1280, 752, below=[node("panel", 0, 86, 1280, 690, below=[root])])
    found = tree.Walker(Session((app(frame),)), NAMES).find(
        Params({"role": "push button"}, timeout_s=10.0)
    )
    assert [row["bounds"] for row in found["nodes"]] == [[92, 88, 136, 123]]


def documents_of(*apps: Node, pids: Sequence[int] = (100,)) -> dict[str, Any]:
    params = Params({"pids": list(pids)}, timeout_s=10.0)
    return Documents(Session(apps), NAMES).documents(params)


def test_documents_of_a_program_are_listed_with_address_and_content() -> None:
    page = node("document web", 0, 0, 90, 90, below=[node("text", 0, 0, 9, 9)])
    page.name, page.url = "Garden", "file:///page.html"
    bar = node("tool bar", 0, 0, 90, 9, below=[node("document web", 0, 0, 9, 9)])
    other = app(node("document web", 0, 0, 90, 90))
    seen = documents_of(app(node("frame", 0, 0, 90, 90, below=[bar, page])), other)
    row = {"role": "document web", "name": "Garden", "url": "file:///page.html", "busy": False}
    assert seen == {"documents": [{**row, "content": 1}], "is_complete": True}


@pytest.mark.parametrize(("states", "is_listed"), [(1 << MULTI_LINE, True), (0, False)])
def test_text_of_several_lines_is_an_editors_document(states: int, *, is_listed: bool) -> None:
    text = node("text", 0, 0, 90, 90)
    text.states, text.characters, text.name = states, 12, ""
    (row,) = documents_of(app(node("frame", 0, 0, 90, 90, below=[text])))["documents"] or [{}]
    assert bool(row) == is_listed
    assert row.get("content", 1) == 1


def test_addresses_of_cells_are_no_content_and_loading_is_reported() -> None:
    cells = [node("table cell", n, 0, 9, 9) for n in range(3)]
    sheet = node("document web", 0, 0, 90, 90, below=cells)
    sheet.states = 1 << BUSY
    (row,) = documents_of(app(sheet))["documents"]
    assert (row["content"], row["busy"]) == (0, True)
    sheet.below = (*cells, node("image", 0, 0, 9, 9))
    (row,) = documents_of(app(sheet))["documents"]
    assert row["content"] == 1
    cells[1].characters = 4
    (row,) = documents_of(app(sheet))["documents"]
    assert row["content"] == 2


def test_silent_program_makes_the_list_incomplete() -> None:
    assert documents_of(app(), pids=[7]) == {"documents": [], "is_complete": False}


def test_search_that_runs_out_of_time_still_returns_what_it_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = Session(two_windows(menu_is_open=True))
    for module in (tree, tree_walk):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: session.now_s))
    ask = session.ask

    def slow(queries: Sequence[Query], deadline_s: float, timeout_s: float = 2.5) -> list[Any]:
        if session.now_s >= deadline_s:
            return [None] * len(queries)
        session.now_s += 0.5
        return ask(queries, deadline_s, timeout_s)

    session.ask = slow  # type: ignore[method-assign]
    found = tree.Walker(session, NAMES).find(Params({"role": "menu item"}, timeout_s=20.0))
    assert found["cut"] == "time"
    assert len(found["nodes"]) == 4


def test_application_that_does_not_answer_is_reported() -> None:
    session = Session((app(node("frame", 0, 0, 9, 9)), app()))
    real = session._answer

    def answer(query: Query, timeout_s: float) -> Any:  # noqa: ANN401
        return None if query.ref.bus == ":1.1" else real(query, timeout_s)

    session._answer = answer  # type: ignore[method-assign]
    found = tree.Walker(session, NAMES).find(Params({"role": "frame"}, timeout_s=10.0))
    assert (len(found["nodes"]), found["cut"]) == (1, "silent")


def test_match_in_an_open_menu_is_enough_and_comes_first() -> None:
    large, active = two_windows(menu_is_open=True)
    large.below[0].below[0].name = active.below[0].below[0].name = "Same"
    active.below[0].below[-1].below[0].below[2].name = "Same"
    session = Session((large, active))
    walker = tree.Walker(session, NAMES)
    found = walker.find(Params({"name": "Same"}, timeout_s=10.0))
    assert [row["role"] for row in found["nodes"]] == ["menu item", "push button"]
    asked = len(session.asked)
    found = walker.find(Params({"name": "Same", "count": 3}, timeout_s=10.0))
    assert [row["role"] for row in found["nodes"]] == ["menu item", "push button", "panel"]
    assert len(session.asked) > asked + 40


def test_match_in_a_menu_bar_that_is_not_drawn_is_no_match() -> None:
    # LibreOffice's root pane has a second menu bar, which GTK replaces, with the same menus.
    edit, other = node("menu", 40, 61, 40, 25), node("menu", 40, 61, 40, 25)
    edit.name = other.name = "Edit"
    unseen = node("menu bar", 0, 61, 1280, 0, below=[other])
    bar = node("menu bar", 0, 61, 1280, 25, below=[edit])
    pane = node("panel", 0, 61, 1280, 25, below=[node("panel", 0, 61, 1280, 25, below=[bar])])
    window = node("frame", 0, 24, 1280, 752, below=[unseen, pane])
    window.states = 1 << ACTIVE
    params = Params({"role": "menu", "name": "Edit"}, timeout_s=10.0)
    found = tree.Walker(Session((app(window),)), NAMES).find(params)
    assert [row["bounds"] for row in found["nodes"]] == [[40, 61, 80, 86]]
