from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from foundation.errors import SpecError
from foundation.yaml_source import Source, read_yaml

if TYPE_CHECKING:
    from pathlib import Path


def read(tmp_path: Path, text: str | bytes) -> Source:
    path = tmp_path / "x.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_yaml(path)


def test_returns_data_and_the_line_of_everything(tmp_path: Path) -> None:
    source = read(tmp_path, "# note\na: 1\nb:\n  - x\n  - {c: 2,\n     d: 3}\n")
    assert source.data == {"a": 1, "b": ["x", {"c": 2, "d": 3}]}
    assert source.line_of(("a",)) == 2
    assert source.line_of(("b", 0)) == 4
    assert source.line_of(("b", 1, "c")) == 5
    assert source.line_of(("b", 1, "d")) == 6
    assert source.line_of(("b", 1, "missing")) == 5
    assert source.line_of(()) == 1


def test_follows_yaml_1_2_instead_of_1_1(tmp_path: Path) -> None:
    source = read(
        tmp_path,
        "on: off\nyes: no\nnumber: 0445550173\ntime: 12:30\nday: 2026-11-21\nbig: 1_000\n"
        "empty:\nnothing: ~\none: 1.5\nnegative: -3\nhalf: .5\nhex: 0x10\n",
    )
    assert source.data == {
        "on": "off",
        "yes": "no",
        "number": "0445550173",
        "time": "12:30",
        "day": "2026-11-21",
        "big": "1_000",
        "empty": None,
        "nothing": None,
        "one": 1.5,
        "negative": -3,
        "half": 0.5,
        "hex": "0x10",
    }


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a: 1\nb: [1, 2\nc: 3\n", 3, "not valid YAML"),
        ("a: 1\n  b: 2\n", 2, "not valid YAML"),
        ("a: 1\nb: 2\n\na: 3\n", 4, "'a' is duplicated"),
        ("a: 1\n? [x]\n: 2\n", 2, "key must be text"),
        ("a: 1\n2: 3\n", 2, "key must be text"),
        ("b: 1\na: &x\n  - *x\n", 2, "inside its own anchor"),
        ("a: !!python/object:os.system {}\n", 1, "not valid YAML"),
        (b"a: 1\nb: \xff\n", 2, "not UTF-8"),
    ],
)
def test_names_file_and_line_of_the_error(
    tmp_path: Path, text: str | bytes, line: int, message: str
) -> None:
    with pytest.raises(SpecError) as caught:
        read(tmp_path, text)
    assert caught.value.brief.startswith(f"{tmp_path / 'x.yaml'}:{line}: ")
    assert message in caught.value.brief


def test_control_characters_and_second_documents_are_rejected(tmp_path: Path) -> None:
    for text in ("a: \x01\n", "a: 1\n---\nb: 2\n"):
        with pytest.raises(SpecError, match="not valid YAML"):
            read(tmp_path, text)


@pytest.mark.slow
def test_alias_bombs_huge_files_and_deep_nests_are_rejected_quickly(tmp_path: Path) -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9)
    )
    for text, message in (
        (bomb, "more than"),
        ("a: " + "x" * (1 << 20), "bytes"),
        ("[" * 5000, "deep"),
    ):
        with pytest.raises(SpecError, match=message):
            read(tmp_path, text)


def test_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="cannot be read"):
        read_yaml(tmp_path / "none.yaml")


def test_empty_file_has_no_data_and_line_1(tmp_path: Path) -> None:
    source = read(tmp_path, "# nothing\n")
    assert source.data is None
    assert source.line_of(("a",)) == 1
