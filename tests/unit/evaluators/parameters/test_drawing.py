"""Values drawn from a seed: reproducible, of their type, different where required."""

from __future__ import annotations

import datetime as dt

import pytest
from pydantic import TypeAdapter, ValidationError

from evaluators.model.parameter import Parameter
from evaluators.parameters.drawing import Values, draw
from foundation.errors import SpecError

DECLARED = {
    "word": {"type": "choice", "from": ["pear", "plum", "fig"]},
    "room": {"type": "choice", "from": [{"name": "A", "seats": 3}, {"name": "B", "seats": 9}]},
    "count": {"type": "integer", "min": 10, "max": 30, "step": 5},
    "day": {"type": "date", "min": "2026-02-27", "max": "2026-03-02", "weekdays": True},
    "who": {"type": "person"},
    "other": {"type": "person"},
    "memo": {"type": "text", "words": 4},
}

PINNED = {
    "word": "pear",
    "room": {"name": "B", "seats": 9},
    "count": 15,
    "day": "2026-02-27",
    "who": "Chidi Novak",
    "other": "Simon Suzuki",
    "memo": "candle pocket cricket quartz",
}


def declared(**rows: object) -> dict[str, Parameter]:
    return TypeAdapter(dict[str, Parameter]).validate_python(rows)


def drawn(seed: int, **rows: object) -> Values:
    return draw(declared(**(rows or DECLARED)), seed)


def test_values_of_a_seed_never_change() -> None:
    # Pinned: with other values for the same seed, old results would belong to another task.
    values = drawn(1)
    assert {name: values[name] for name in DECLARED} == PINNED


def test_each_value_is_of_its_type() -> None:
    for seed in range(40):
        values = drawn(seed)
        assert values["word"] in {"pear", "plum", "fig"}
        assert (values["room.name"], values["room.seats"]) in {("A", 3), ("B", 9)}
        assert values["count"] in {10, 15, 20, 25, 30}
        day = dt.date.fromisoformat(str(values["day"]))
        assert day in {dt.date(2026, 2, 27), dt.date(2026, 3, 2)}
        assert values["day.long"] in {"27 February 2026", "2 March 2026"}
        assert values["day.weekday"] == day.strftime("%A")
        assert values["who"] == f"{values['who.first']} {values['who.last']}"
        assert values["who.first"] != values["other.first"]
        assert values["who.last"] != values["other.last"]
        assert len(str(values["memo"]).split()) == 4


def test_two_seeds_differ_and_every_option_occurs() -> None:
    values = [drawn(seed) for seed in range(60)]
    assert {value["word"] for value in values} == {"pear", "plum", "fig"}
    assert {value["count"] for value in values} == {10, 15, 20, 25, 30}
    assert len({value["who"] for value in values}) > 50


def test_another_parameter_does_not_change_the_others() -> None:
    assert drawn(3, **DECLARED, new={"type": "text"})["memo"] == drawn(3)["memo"]


def test_values_differ_where_required() -> None:
    pair = {
        "a": {"type": "integer", "min": 1, "max": 2},
        "b": {"type": "integer", "min": 1, "max": 2, "differs_from": ["a"]},
    }
    for seed in range(20):
        values = drawn(seed, **pair)
        assert {values["a"], values["b"]} == {1, 2}
    third = {"type": "integer", "min": 1, "max": 2, "differs_from": ["a", "b"]}
    with pytest.raises(SpecError, match="'c' has no value left that differs from a, b"):
        drawn(0, **pair, c=third)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"type": "choice"}, "needs `from` or `file`"),
        ({"type": "choice", "from": ["a", 1]}, "of one type"),
        ({"type": "choice", "from": [{"a": 1}, {"b": 1}]}, "the same keys"),
        ({"type": "integer", "min": 2, "max": 1}, "must not be larger"),
        (
            {"type": "date", "min": "2026-13-01", "max": "2026-12-31"},
            "YYYY-MM-DD, for example 2026-03-31",
        ),
        ({"type": "persn"}, "persn"),
        ({"type": "text", "wrds": 3}, "Did you mean 'words'"),
    ],
)
def test_wrong_declarations_are_rejected(row: object, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        declared(it=row)
