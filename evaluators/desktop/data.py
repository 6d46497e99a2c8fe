"""Evaluators of structured data in files: JSON, CSV, INI, XML. Paths are as in `files`.

A file that is missing, larger than 1 MiB, or not in the expected format is unmet.
"""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Any

from evaluators.decorators import MachinePath, evaluator
from evaluators.desktop.ini import parse_ini
from evaluators.desktop.reading import read_bytes, read_plain_text

if TYPE_CHECKING:
    from provisioning.probe.guest import Guest

_NOTHING = object()
_INDEX = re.compile("0|[1-9][0-9]{0,8}")
_UNUSUAL_SPACE = re.compile(r"[^\S \t\r\n]")


@evaluator(on="desktop")
def json_value_equals(guest: Guest, path: MachinePath, pointer: str, value: object) -> bool:
    """Return whether a JSON file has the given value at the given position.

    Numbers are compared by value and type: 1 is neither 1.0 nor true. Objects and lists must be
    completely equal. A file with a duplicate key in an object, or with NaN, is unmet.

    A byte order mark is ignored. Proves the state, not who caused it.

    Source: RFC 6901 for the pointer.

    Example:
        ``{on: desktop, check: json_value_equals, with: {path: ~/app.json, pointer: /window/width,
        value: 800}}``

    Args:
        guest: the desktop.
        path: path of the file.
        pointer: a JSON pointer such as ``/items/0/name``; empty for the whole document.
        value: any JSON value.

    Raises:
        ValueError: `pointer` is not empty and does not begin with a slash.
    """
    if pointer and pointer[0] != "/":
        raise ValueError(f"a JSON pointer must begin with a slash, got {pointer!r}")
    try:
        document = parse_json(read_plain_text(guest, path) or "")
    except ValueError:
        return False
    return exactly(resolve(document, pointer), value)


@evaluator(on="desktop")
def csv_cell_equals(
    guest: Guest, path: MachinePath, row: int, column: str, text: str, *, delimiter: str = ","
) -> bool:
    """Return whether a cell of a CSV file contains exactly the given text.

    The first line contains the column names. White space around cells and column names is ignored.
    A duplicate column name is unmet.

    A byte order mark is ignored. Proves the state, not who caused it.

    Example:
        ``{on: desktop, check: csv_cell_equals, with: {path: ~/pay.csv, row: 1, column: name, text:
        Ann}}``

    Args:
        guest: the desktop.
        path: path of the file.
        row: number of the row, from 1, without the line with the column names.
        column: name of the column.
        text: the cell's complete text.
        delimiter: delimiter between cells, one character.
    """
    rows = _rows(guest, path, delimiter)
    names = [name.strip() for name in rows[0]] if rows else []
    if names.count(column.strip()) != 1 or not 1 <= row < len(rows):
        return False
    place = names.index(column.strip())
    return place < len(rows[row]) and rows[row][place].strip() == text.strip()


@evaluator(on="desktop")
def csv_rows_equal(
    guest: Guest,
    path: MachinePath,
    rows: list[list[str]],
    *,
    delimiter: str = ",",
    ordered: bool = True,
) -> bool:
    """Return whether a CSV file contains exactly the given rows.

    The line with column names counts as a row. White space around cells, and lines without cells,
    are ignored.

    A byte order mark is ignored. Proves the state, not who caused it.

    Example:
        ``{on: desktop, check: csv_rows_equal, with: {path: ~/pay.csv, rows: [[name, sum], [Ann,
        "7"]]}}``

    Args:
        guest: the desktop.
        path: path of the file.
        rows: all rows, cell by cell; at least one.
        delimiter: delimiter between cells, one character.
        ordered: whether the order of the rows after the first one counts.

    Raises:
        ValueError: `rows` is empty.
    """
    if not rows:
        raise ValueError("give at least one row")
    wanted = [[cell.strip() for cell in row] for row in rows]
    file_rows = [[cell.strip() for cell in row] for row in _rows(guest, path, delimiter)]
    if not ordered:
        file_rows, wanted = (table[:1] + sorted(table[1:]) for table in (file_rows, wanted))
    return file_rows == wanted


@evaluator(on="desktop")
def ini_value_equals(guest: Guest, path: MachinePath, section: str, key: str, value: str) -> bool:
    """Return whether a section of an INI file has a key with the given value.

    Names of sections and keys are case-sensitive. White space around the value is
    ignored. A file with a duplicate key or section is unmet. Keys before the first section, and
    keys without a value, are ignored.

    A byte order mark is ignored. Proves the state, not who caused it.

    Example:
        ``{on: desktop, check: ini_value_equals, with: {path: ~/.config/app.conf, section: Window,
        key: width, value: "800"}}``

    Args:
        guest: the desktop.
        path: path of the file.
        section: name of the section, without brackets.
        key: name of the key.
        value: text after ``=``, or after ``:`` if no line has this key before ``=``.
    """
    text, section, key, value = map(
        _with_marked_space, (read_plain_text(guest, path) or "", section, key, value.strip())
    )
    readings = (
        parse_ini(text, delimiters=signs, is_lenient=True) for signs in (("=",), ("=", ":"))
    )
    values = (reading.get(section, key, fallback=None) for reading in readings)
    stored = next((entry for entry in values if entry is not None), None)
    return stored is not None and stored == value


def _with_marked_space(text: str) -> str:
    """Mark characters in a text that Python, but not other programs, treats as white space."""
    return _UNUSUAL_SPACE.sub("\ue000", text)


@evaluator(on="desktop")
def xml_text_equals(guest: Guest, path: MachinePath, element: str, text: str) -> bool:
    """Return whether exactly one element of an XML file matches a path and contains the given text.

    White space around the text is ignored. A document with a DTD is unmet, because entities can
    hide content and grow without limit. The file is decoded with its declared encoding.

    A byte order mark is ignored. Proves the state, not who caused it.

    Example:
        ``{on: desktop, check: xml_text_equals, with: {path: ~/feed.xml, element: ./channel/title,
        text: News}}``

    Args:
        guest: the desktop.
        path: path of the file.
        element: path from the root element, in the subset of XPath that ElementTree supports.
        text: the complete text of the element, without that of its children.
    """
    root = _parsed(read_bytes(guest, path) or b"")
    nodes = root.findall(element) if root is not None else []
    own = ["".join([node.text or "", *(child.tail or "" for child in node)]) for node in nodes]
    return len(own) == 1 and own[0].strip() == text.strip()


class _TreeWithoutDtd(ET.TreeBuilder):
    """Tree builder that rejects document types, without which there are no entities."""

    def doctype(self, *_: object) -> None:
        raise ValueError("document types are not allowed")


def _parsed(content: bytes) -> ET.Element | None:
    """Return the root of XML in any encoding; None if it is not XML, or has a DTD."""
    try:
        return ET.fromstring(content, ET.XMLParser(target=_TreeWithoutDtd()))  # noqa: S314
    except (ET.ParseError, ValueError, LookupError):
        return None


def parse_json(text: str | bytes) -> object:
    """Parse JSON.

    Raises:
        ValueError: the text is not JSON (including ``NaN`` and ``Infinity``), is nested too deeply,
            or an object has a duplicate key.
    """
    try:
        return json.loads(text, object_pairs_hook=_json_object, parse_constant=_refuse)
    except RecursionError as exc:
        raise ValueError("nested too deeply") from exc


def _json_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("duplicate key")
    return members


def _refuse(constant: str) -> object:
    raise ValueError(f"{constant} is not valid JSON")


def resolve(document: object, pointer: str) -> object:
    """Return the value at a JSON pointer; if there is none, an object that is not equal to any JSON value."""
    current = document
    for token in pointer.split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        if isinstance(current, dict):
            current = current.get(name, _NOTHING)
        elif isinstance(current, list) and _INDEX.fullmatch(name) and int(name) < len(current):
            current = current[int(name)]
        else:
            return _NOTHING
    return current


def exactly(actual: object, wanted: object) -> bool:
    """Return whether JSON values and their types are equal."""
    if isinstance(actual, dict) and isinstance(wanted, dict):
        return actual.keys() == wanted.keys() and all(exactly(actual[k], wanted[k]) for k in wanted)
    if isinstance(actual, list) and isinstance(wanted, list):
        return len(actual) == len(wanted) and all(map(exactly, actual, wanted))
    return type(actual) is type(wanted) and actual == wanted


def _rows(guest: Guest, path: str, delimiter: str) -> list[list[str]]:
    """Return the rows of a CSV file; an empty list if it is not a valid one."""
    content = read_plain_text(guest, path) or ""
    reader = csv.reader(io.StringIO(content, newline=""), delimiter=delimiter, strict=True)
    try:
        return [row for row in reader if row]
    except csv.Error:
        return []
