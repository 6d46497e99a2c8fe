from __future__ import annotations

from controller.observation.marking.tree import has_hidden_windows, tree_candidates
from provisioning.protocols import Bounds, Element

SCREEN = (1280, 800)
SHOWN = frozenset({"enabled", "sensitive", "showing", "visible"})


def element(
    depth: int, role: str, name: str, *sides: int, states: set[str] | None = None
) -> Element:
    left, top, right, bottom = sides
    return Element(
        role, name, Bounds(left, top, right, bottom), SHOWN | (states or set()), "", depth
    )


def names(*elements: Element, stack: tuple[Bounds, ...] = ()) -> list[str]:
    return [row.name for row in tree_candidates(elements, SCREEN, stack)]


def test_controls_and_texts_are_found_but_not_what_is_around_them() -> None:
    assert names(
        element(0, "frame", "Editor", 0, 0, 400, 400),
        element(1, "panel", "bar", 0, 0, 400, 40),
        element(2, "push button", "Save", 10, 5, 60, 35),
        element(2, "label", "Draft", 100, 5, 160, 35),
        element(2, "label", "", 170, 5, 180, 35),
    ) == ["Save", "Draft"]


def test_a_label_in_a_button_is_the_button_and_gives_it_its_name() -> None:
    (row,) = tree_candidates(
        [
            element(0, "frame", "f", 0, 0, 400, 400),
            element(1, "push button", "", 10, 10, 90, 40),
            element(2, "label", "Cancel", 20, 15, 80, 35),
        ],
        SCREEN,
    )
    assert (row.role, row.name, row.box) == ("push button", "Cancel", Bounds(10, 10, 90, 40))


def test_what_is_outside_of_the_screen_or_a_scrolled_list_is_left_out() -> None:
    assert names(
        element(0, "frame", "f", 0, 0, 400, 400),
        element(1, "push button", "gone", -80, -50, -10, -20),
        element(1, "scroll pane", "", 0, 100, 400, 200),
        element(2, "list item", "in", 0, 110, 400, 140),
        element(2, "list item", "below", 0, 260, 400, 290),
        element(1, "push button", "thin", 0, 50, 400, 52),
    ) == ["in"]


def test_windows_hide_what_is_below_them() -> None:
    lower = [
        element(0, "frame", "lower", 0, 0, 600, 600),
        element(1, "push button", "covered", 250, 250, 300, 280),
        element(1, "push button", "free", 10, 10, 60, 40),
    ]
    upper = [
        element(0, "frame", "upper", 200, 200, 800, 700, states={"active"}),
        element(1, "panel", "", 200, 200, 800, 700),
        element(2, "push button", "on top", 250, 300, 300, 330),
    ]
    assert names(*lower, *upper) == ["free", "on top"]
    assert has_hidden_windows([*lower, *upper], SCREEN)
    stack = (Bounds(200, 200, 800, 700), Bounds(0, 0, 600, 600))
    whole = [*lower, element(1, "panel", "", 0, 0, 600, 600)]
    assert names(*whole, *upper, stack=stack) == ["covered", "free"]


def test_an_open_menu_hides_what_is_below_it() -> None:
    assert names(
        element(0, "frame", "f", 0, 0, 600, 600),
        element(1, "menu bar", "", 0, 0, 600, 30),
        element(2, "menu", "File", 0, 0, 50, 30),
        element(3, "menu item", "Open", 0, 30, 150, 60),
        element(3, "menu item", "Quit", 0, 60, 150, 90),
        element(1, "push button", "behind", 20, 50, 90, 80),
    ) == ["File", "Open", "Quit"]


def test_a_row_of_a_phone_is_named_by_its_texts() -> None:
    phone = [
        Element("android.widget.FrameLayout", "", Bounds(0, 0, 1080, 2400), frozenset(), "", 0),
        Element("android.widget.LinearLayout", "", Bounds(0, 100, 1080, 250),
                frozenset({"clickable", "enabled"}), "", 1),
        Element("android.widget.TextView", "Wi-Fi", Bounds(60, 110, 400, 170),
                frozenset({"enabled"}), "", 2),
        Element("android.widget.TextView", "Off", Bounds(60, 170, 400, 240),
                frozenset({"enabled"}), "", 2),
        Element("android.widget.Switch", "", Bounds(900, 120, 1040, 230),
                frozenset({"clickable", "checkable", "enabled"}), "", 2),
    ]  # fmt: skip
    rows = tree_candidates(phone, (1080, 2400))
    assert [row.name for row in rows] == ["Wi-Fi Off", ""]
    assert rows[1].states == {"not checked"}
