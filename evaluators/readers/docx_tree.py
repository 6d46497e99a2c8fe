"""Reduce the body of a .docx to its visible content: plain paragraphs, runs, tables, rows and cells.

Wrappers, such as content controls and tracked insertions, are replaced by their content. Deleted
content, the code of fields, and alternatives that are not shown are removed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_COMPATIBILITY = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_KNOWN = frozenset(
    f"http://schemas.microsoft.com/office/word/2010/{name}"
    for name in (
        "wordml",
        "wordprocessingShape",
        "wordprocessingGroup",
        "wordprocessingCanvas",
        "wordprocessingDrawing",
    )
)
"""Extensions whose alternative content programs show; for others they show the fallback."""
_WRAPPERS = (
    "ins", "moveTo", "hyperlink", "smartTag", "fldSimple", "sdtContent", "sdt", "customXml", "dir", "bdo"
)  # fmt: skip
_DELETIONS = ("del", "moveFrom")
_OFF = frozenset({"0", "false", "off"})
_SILENT = frozenset({"ASK", "PRIVATE", "RD", "SET", "TA", "TC", "XE"})
"""Fields that show nothing, even if a result is stored. Source: ECMA-376, part 1, 17.16.5."""


def reduce_body(body: Any) -> None:  # noqa: ANN401 - an element of lxml
    """Reduce a document's body in place; tracked changes count as accepted."""
    alternatives = body.iter(f"{_COMPATIBILITY}AlternateContent")
    for node, others in [(node, _chosen(node)) for node in alternatives]:  # moving loses prefixes
        _replace(node, others)
    for node in list(body.iter(*(f"{WORD}{name}" for name in _DELETIONS))):
        if node.getparent().tag not in {f"{WORD}rPr", f"{WORD}trPr"}:  # applies to the whole
            _replace(node, [])
    for node in list(body.iter(f"{WORD}fldSimple")):
        if _is_silent(node.get(f"{WORD}instr") or ""):
            _replace(node, [])
    for node in list(body.iter(*(f"{WORD}{name}" for name in _WRAPPERS))):
        _replace(node, list(node))
    for run in dict.fromkeys(node.getparent() for node in body.iter(f"{WORD}ruby")):
        _replace(run, [child for base in run.iter(f"{WORD}rubyBase") for child in base])
    _remove_field_codes(body)


def is_on(elements: list[Any]) -> bool:
    """Return whether a property, given as its elements, is present and not switched off."""
    return any(element.get(f"{WORD}val") not in _OFF for element in elements)


def _chosen(node: Any) -> list[Any]:  # noqa: ANN401
    """Return the content of alternatives that is shown."""
    for choice in node.iterchildren(f"{_COMPATIBILITY}Choice"):
        if all(choice.nsmap.get(name) in _KNOWN for name in choice.get("Requires").split()):
            return list(choice)
    return [
        child for fallback in node.iterchildren(f"{_COMPATIBILITY}Fallback") for child in fallback
    ]


def _replace(node: Any, others: list[Any]) -> None:  # noqa: ANN401
    for other in others:
        node.addprevious(other)
    node.getparent().remove(node)


def _remove_field_codes(body: Any) -> None:  # noqa: ANN401
    """Remove the code of fields, and the stored results of fields that show nothing.

    The code is between the beginning of a field and its separator or, without one, its end.
    """
    fields: list[_Field] = []
    for run in list(body.iter(f"{WORD}r")):
        for child in list(run):
            if child.tag == f"{WORD}fldChar":
                _follow(fields, child.get(f"{WORD}fldCharType"))
            elif any(field.is_unseen for field in fields):
                if child.tag == f"{WORD}instrText":
                    fields[-1].code += child.text or ""
                run.remove(child)


def _follow(fields: list[_Field], mark: str | None) -> None:
    """Process a mark of a field."""
    if mark == "begin":
        fields.append(_Field())
    elif fields and mark == "separate":
        fields[-1].is_unseen = _is_silent(fields[-1].code)
    elif fields:
        fields.pop()


def _is_silent(code: str) -> bool:
    return bool(set(code.upper().split()[:1]) & _SILENT)


@dataclass(slots=True)
class _Field:
    """An open field: the code read so far, and whether the following content is not shown."""

    code: str = ""
    is_unseen: bool = True
