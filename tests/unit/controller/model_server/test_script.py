from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from controller.model_server.script import parse_script, read_script
from foundation.errors import SpecError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (None, "script"),
        ({"members": {}}, "members"),
        ({"members": {"m": {"rules": []}}}, "members.m.rules"),
        ({"members": {"m": {"rules": [{"reply": {"txt": 1}}]}}}, "members.m.rules.0.reply.txt"),
        ({"members": {"m": {"must_see": ["("], "rules": [{}]}}}, "invalid pattern"),
        ({"members": {"m": {"rules": [{"status": 42}]}}}, "members.m.rules.0.status"),
    ],
)
def test_mistakes_are_named_with_their_place(values: object, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_script(values)
    assert message in caught.value.details


def test_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "script.yaml"
    path.write_text("members: {m: {rules: [{reply: {text: hello}}]}}")
    assert read_script(path).members["m"].rules[0].reply.text == "hello"
    with pytest.raises(SpecError, match="cannot be read"):
        read_script(tmp_path / "none.yaml")
