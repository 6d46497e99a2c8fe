"""The page about imports says what its tables say."""

from __future__ import annotations

from controller.importing.page import PAGE, generate


def test_the_page_is_that_of_the_tables() -> None:
    text = PAGE.read_text()
    assert generate(text) == text, "run python -m controller.importing.page"
