from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Literal

import pytest
from pydantic import Field

from evaluators import decorators
from evaluators.decorators import action, collect, evaluator, mark_of
from evaluators.schema import describe, read_docstring
from foundation.errors import InvalidActionError, SpecError

if TYPE_CHECKING:
    from nowhere import Unknown  # type: ignore[import-not-found]

Px = Annotated[int, Field(ge=0)]


@action(on="desktop")
def poke(
    machine: Unknown,
    x: Px,
    phrases: list[str],
    how: Literal["softly", "hard"] = "softly",
    pause: float = 0.5,
) -> None:
    """Poke the screen
    somewhere.

    It may hurt.

    Args:
        machine: never offered; its type need not exist here.
        x: from the left edge,
            in px: counted from 0.
        phrases: spoken meanwhile.
        how: how hard.
        pause: s.

    Raises:
        ValueError: x: is not here.
    """


@evaluator(on="session")
def always(session: object) -> bool:
    """Return True."""
    return True


def test_declares_the_function_for_its_callers() -> None:
    function = describe(poke).declaration()
    assert function["name"] == "poke"
    assert function["description"] == "Poke the screen somewhere.\nIt may hurt."
    schema = function["parameters"]
    assert schema["additionalProperties"] is False
    assert schema["required"] == ["x", "phrases"]
    assert schema["properties"] == {
        "x": {"type": "integer", "minimum": 0, "description": "from the left edge, in px: counted from 0."},
        "phrases": {"type": "array", "items": {"type": "string"}, "description": "spoken meanwhile."},
        "how": {"type": "string", "enum": ["softly", "hard"], "default": "softly", "description": "how hard."},
        "pause": {"type": "number", "default": 0.5, "description": "s."},
    }  # fmt: skip
    json.dumps(function)


def test_function_without_arguments_takes_none() -> None:
    tool = describe(always)
    assert tool.parameters()["properties"] == {}
    assert tool.check({}) == {}
    with pytest.raises(SpecError, match="takes: no arguments"):
        tool.check({"x": 1})


def test_applies_defaults() -> None:
    assert describe(poke).check({"x": 1, "phrases": []}) == {
        "x": 1, "phrases": [], "how": "softly", "pause": 0.5,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("args", "fault"),
    [
        ({"x": "1", "phrases": []}, "x: .*integer"),
        ({"x": True, "phrases": []}, "x: .*integer"),
        ({"x": 1.5, "phrases": []}, "x: .*integer"),
        ({"x": -1, "phrases": []}, "x: .*greater"),
        ({"x": 1, "phrases": "one"}, "phrases: .*array"),
        ({"x": 1, "phrases": [2]}, "phrases.0: .*string"),
        ({"x": 1, "phrases": [], "how": "Softly"}, "how: .*softly"),
        ({"x": 1, "phrases": [], "pause": "long"}, "pause: .*number"),
        ({"x": 1}, "phrases is missing"),
        ({"x": 1, "phrases": [], "pauze": 1}, "'pauze'.*Did you mean 'pause'"),
        ({"x": 1, "phrases": [], "machine": 1}, "no argument called 'machine'"),
        ({"x": {1, 2}, "phrases": []}, "JSON"),
    ],
)
def test_wrong_arguments_are_reported_as_the_callers_error(
    args: dict[str, Any], fault: str
) -> None:
    with pytest.raises(InvalidActionError, match=fault) as caught:
        describe(poke).check(args, error=InvalidActionError)
    assert "poke takes: x, phrases, how (optional), pause (optional)." in caught.value.resolution


def test_reports_every_error_once() -> None:
    with pytest.raises(SpecError) as caught:
        describe(poke).check({"x": -1, "how": "?", "z": 0})
    first = caught.value.brief.removeprefix("Wrong arguments for poke: ")
    lines = [first, *caught.value.details.splitlines()]
    assert len(set(lines)) == len(lines) == 4


def test_mark_describes_a_function_and_leaves_it_unchanged() -> None:
    mark = mark_of(always)
    assert mark is not None
    assert (mark.kind, mark.name, mark.on) == ("evaluator", "always", "session")
    assert always(object()) is True
    assert mark_of(len) is None


def test_collect_takes_defined_functions_not_imported_ones() -> None:
    own = {"poke": poke, "always": always, "__name__": __name__, "other": 3}
    assert list(collect(own, kind="action", on="desktop")) == ["poke"]
    assert collect(own, kind="action", on="phone") == {}
    assert collect({**own, "__name__": "elsewhere"}, kind="action", on="desktop") == {}
    assert collect(decorators, kind="action", on="desktop") == {}


def test_marks_need_a_place_and_a_docstring() -> None:
    with pytest.raises(ValueError, match="watch"):
        evaluator(on="watch")

    def silent(session: object) -> bool:
        return True

    with pytest.raises(ValueError, match="silent has no docstring"):
        evaluator(on="session")(silent)


def test_undescribed_or_untyped_parameters_are_rejected() -> None:
    def quiet(session: object, x: int) -> bool:
        """Tell."""
        return x > 0

    def untyped(session, x):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        """Tell.

        Args:
            session: the session.
            x: something.
        """

    for function in (quiet, untyped):
        with pytest.raises(SpecError, match="'x'"):
            describe(evaluator(on="session")(function))
    with pytest.raises(SpecError, match="is not a marked function"):
        describe(len)


def test_separates_the_sections_of_a_docstring() -> None:
    text, described = read_docstring(
        "Do it.\n\nArgs:\n    a (int): one.\n    *b: two\n\nReturns:\n    c: no."
    )
    assert text == "Do it."
    assert described == {"a": "one.", "b": "two"}
