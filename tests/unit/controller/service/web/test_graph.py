from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from controller.service.web.drawing.graph import Box, Shape, draw_graph


@st.composite
def graphs(draw: st.DrawFn) -> list[Shape]:
    """Return a graph without cycles: each node comes after some of those before it."""
    shapes: list[Shape] = []
    for number in range(draw(st.integers(1, 12))):
        names = [shape.id for shape in shapes if shape.mode != "keep"]
        after = draw(st.lists(st.sampled_from(names), unique=True)) if names else []
        mode = "hold" if after else draw(st.sampled_from(["once", "keep"]))
        shapes.append(Shape(f"node-{number}" * draw(st.integers(1, 6)), tuple(after), mode))
    return shapes


def overlap(first: Box, second: Box) -> bool:
    apart_x = first.left + first.width <= second.left or second.left + second.width <= first.left
    apart_y = first.top + first.height <= second.top or second.top + second.height <= first.top
    return not (apart_x or apart_y)


@settings(max_examples=60, deadline=None)
@given(graphs())
def test_boxes_are_inside_separate_and_below_their_predecessors(shapes: list[Shape]) -> None:
    drawing = draw_graph(shapes)
    boxes = {box.id: box for box in drawing.boxes}
    assert [box.id for box in drawing.boxes] == [shape.id for shape in shapes]
    for number, box in enumerate(drawing.boxes):
        assert box.left >= 0
        assert box.left + box.width <= drawing.width
        assert box.top + box.height <= drawing.height
        assert not any(overlap(box, other) for other in drawing.boxes[number + 1 :])
    assert {(edge.first, edge.second) for edge in drawing.edges} == {
        (name, shape.id) for shape in shapes for name in shape.after
    }
    for shape in shapes:
        assert all(boxes[name].top < boxes[shape.id].top for name in shape.after)


def test_crossing_is_undone_and_invariants_come_last() -> None:
    shapes = [
        Shape("left"),
        Shape("right"),
        Shape("under-right", ("right",)),
        Shape("under-left", ("left",)),
        Shape("quiet", mode="keep"),
    ]
    boxes = {box.id: box for box in draw_graph(shapes).boxes}
    is_left_first = boxes["left"].left < boxes["right"].left
    assert (boxes["under-left"].left < boxes["under-right"].left) is is_left_first
    assert boxes["quiet"].top > boxes["under-left"].top


def test_cycle_in_a_damaged_log_ends() -> None:
    assert len(draw_graph([Shape("a", ("b",)), Shape("b", ("a",))]).boxes) == 2
