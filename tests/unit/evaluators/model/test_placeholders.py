"""Placeholders in texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.model.placeholders import placeholders, substitute

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
        ({"path": ["${name}", 1, None]}, {"path": ["Ines", 1, None]}),
        ({"${name}": 1}, {"${name}": 1}),
    ],
)
def test_placeholders_take_values(content: JsonValue, expected: JsonValue) -> None:
    assert substitute(content, VALUES) == expected


@pytest.mark.parametrize("content", ["the ${tags}", "${flag}?"])
def test_only_texts_and_numbers_stand_inside_texts(content: str) -> None:
    with pytest.raises(TypeError, match="cannot stand inside a text"):
        substitute(content, VALUES)


def test_values_are_not_substituted_again() -> None:
    assert substitute("${a} ${b}", {"a": "${b}", "b": "x"}) == "${b} x"


@given(st.text())
def test_a_text_escaped_by_a_second_dollar_is_itself(text: str) -> None:
    assert substitute(text.replace("${", "$${"), {}) == text or "$${" in text


def test_placeholders_are_found_with_their_places() -> None:
    content: JsonValue = {"a": ["x", "${one} ${two}"], "b": {"c": "$${no} ${three}"}}
    assert list(placeholders(content)) == [
        ("one", ("a", 1)),
        ("two", ("a", 1)),
        ("three", ("b", "c")),
    ]
