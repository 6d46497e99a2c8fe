"""Placeholders in texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.model.placeholders import escaped, placeholders, substitute, substitute_entry

if TYPE_CHECKING:
    from pydantic import JsonValue

VALUES: dict[str, JsonValue] = {
    "name": "Ines",
    "count": 3,
    "tags": ["a", "b"],
    "flag": True,
    "roles.phone": "handset",
}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("Hello ${name}!", "Hello Ines!"),
        ("${count} of ${count}", "3 of 3"),
        ("${count}", 3),
        ("${tags}", ["a", "b"]),
        ("${flag}", True),
        ("on ${roles.phone}", "on handset"),
        ("$${name} costs $5, {name}", "${name} costs $5, {name}"),
        ("$$${count} and $$$${count}, $$ or $HOME", "$3 and $${count}, $$ or $HOME"),
        ("${count:text}", "3"),
        ("${ and $${ and $$${", "${ and ${ and $${"),
        ({"path": ["${name}", 1, None]}, {"path": ["Ines", 1, None]}),
        ({"${name}": 1}, {"${name}": 1}),
    ],
)
def test_placeholders_take_values(content: JsonValue, expected: JsonValue) -> None:
    assert substitute(content, VALUES) == expected


@pytest.mark.parametrize("content", ["the ${tags}", "${flag}?"])
def test_only_texts_and_numbers_may_be_used_inside_texts(content: str) -> None:
    with pytest.raises(TypeError, match="cannot be used inside a text"):
        substitute(content, VALUES)


def test_values_are_not_substituted_again() -> None:
    assert substitute("${a} ${b}", {"a": "${b}", "b": "x"}) == "${b} x"


@given(st.text())
def test_doubled_dollar_is_an_escape(text: str) -> None:
    assert substitute(text.replace("${", "$${"), {}) == text or "$${" in text


@pytest.mark.parametrize(
    ("content", "inputs", "expected"),
    [
        ("$$${x}", {"x": 5}, "$5"),
        ("$$${x}", {"x": "${n}"}, "$7"),
        ("$$${x}", {"x": "$${n}"}, "$${n}"),
        ("$${x} $$$${x}", {"x": 5}, "${x} $${x}"),
        ("${x}", {"x": "${n}"}, 7),
        ("${x:text}", {"x": "${n}"}, "7"),
        ("${x:text}", {"x": "${n:text}"}, "7"),
        ("${x:text}", {"x": "no ${n}"}, "no 7"),
    ],
)
def test_substitution_in_two_passes_equals_one_pass(
    content: str, inputs: dict[str, JsonValue], expected: JsonValue
) -> None:
    once = substitute(content, inputs, keeps_escapes=True)
    assert substitute(once, {"n": 7}) == expected


def test_entries_have_numbers_in_their_arguments_only() -> None:
    entry: JsonValue = {"hint": "${count}", "with": {"n": "${count}", "list": ["${count}"]}}
    expected = {"hint": "3", "with": {"n": 3, "list": [3]}}
    assert substitute_entry(entry, VALUES) == expected
    with pytest.raises(TypeError, match="cannot be used inside a text"):
        substitute_entry({"hint": "${tags}"}, VALUES)


def test_placeholders_are_found_with_their_positions() -> None:
    content: JsonValue = {"a": ["x", "${one} ${two:text}"], "b": {"c": "$${no} $$${three}"}}
    assert list(placeholders(content)) == [
        ("one", ("a", 1)),
        ("two", ("a", 1)),
        ("three", ("b", "c")),
    ]
    assert list(escaped(content)) == ["no"]
