"""What the agent handed in."""

from __future__ import annotations

import re
import unicodedata
from typing import Protocol

from evaluators.decorators import evaluator

_DECIMAL = re.compile(r"[-+]?[0-9]{1,30}(\.[0-9]{1,30})?")
_OPENING = "\"'\u201c\u2018"
_CLOSING = "\"'\u201d\u2019"


class SessionView(Protocol):
    """What evaluators see of a session."""

    @property
    def answer(self) -> str | None:
        """The last answer handed in; None when there is none."""
        ...


@evaluator(on="session")
def answer_equals(session: SessionView, expected: str) -> bool:
    """Tell whether the submitted answer is the expected one; none submitted is unmet.

    Both are normalised: Unicode NFKC, letter case folded, white space runs made one blank, and
    one pair of quotes around all and full stops at the end dropped. The rest must be equal;
    containing the expected answer is not enough.

    Args:
        session: the session.
        expected: the right answer.
    """
    return session.answer is not None and _normal(session.answer) == _normal(expected)


@evaluator(on="session")
def answer_is_number(session: SessionView, expected: float, tolerance: float = 0.0) -> bool:
    """Tell whether the submitted answer is a number and near enough the expected one.

    The answer must be a plain decimal number: digits, perhaps a sign and a decimal point, with
    nothing around but white space.

    Args:
        session: the session.
        expected: the right number.
        tolerance: how far the answer may be from it, both sides included.
    """
    answer = (session.answer or "").strip()
    return bool(_DECIMAL.fullmatch(answer)) and abs(float(answer) - expected) <= tolerance


def _normal(text: str) -> str:
    words = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    words = words.rstrip(". ")
    if len(words) > 1 and words[0] in _OPENING and words[-1] in _CLOSING:
        words = words[1:-1].strip(" ").rstrip(". ")
    return words
