"""Threat model of evaluators of documents and pictures, which run on the host.

What the agent's user can do to their input: everything that it can do to files
(`tests.attacks.files`); and pass documents in any format to a parser on the host: decompression
bombs, entities, damaged and hidden content.

Defences: the probe opens files without following links; parsers run in an unprivileged process with
limited memory and time; only visible content of a document counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evaluators.graph.outcome import Call
from tests.attacks.techniques import (
    MOUNTS,
    TIMES,
    WRITES,
    Target,
    ThreatModel,
    contents,
    generate,
    honest,
    hostile,
)
from tests.evaluator_cases.file_builders import bombed, docx, with_entities, xlsx

if TYPE_CHECKING:
    from tests.attacks.model import ShellAttack

FAMILY = "documents"
WORDS = "The lake froze in 1963."


def _paragraph(path: str) -> Call:
    return Call("paragraph", "document_has_paragraph", {"path": path, "text": WORDS})


def _cell(path: str) -> Call:
    return Call("cell", "cell_equals", {"path": path, "cell": "B2", "value": 12})


def _letter(text: str) -> bytes:
    return docx(lambda document: document.add_paragraph(text))


def _sheet(value: object) -> bytes:
    def fill(book: Any) -> None:  # noqa: ANN401 - openpyxl's type
        book.active["B2"] = value

    return xlsx(fill)


def _hidden() -> bytes:
    def build(document: Any) -> None:  # noqa: ANN401 - python-docx's type
        document.add_paragraph().add_run(WORDS).font.hidden = True

    return docx(build)


LETTER = Target(
    "letter", "letter.docx", contents(_letter(WORDS)), contents(_letter("Dear Ann")), _paragraph
)
SHEET = Target("workbook", "pay.xlsx", contents(_sheet(12)), contents(_sheet(7)), _cell)
_MODEL = ThreatModel(FAMILY, (LETTER, SHEET), WRITES, MOUNTS, TIMES)

ATTACKS: tuple[ShellAttack, ...] = (
    *generate(_MODEL),
    hostile(FAMILY, LETTER, "hidden text", contents(_hidden()), "hidden text is not a paragraph"),
    hostile(
        FAMILY,
        LETTER,
        "decompression bomb",
        contents(bombed(_letter("Dear Ann"))),
        "archives with too much content are unreadable",
    ),
    hostile(
        FAMILY,
        LETTER,
        "external entity",
        contents(with_entities(_letter("Dear Ann"), "word/document.xml")),
        "documents with entities are unreadable",
    ),
    hostile(
        FAMILY,
        SHEET,
        "text that looks like a number",
        contents(_sheet("12")),
        "text is not a number",
    ),
)
HONEST = tuple(honest(FAMILY, target) for target in (LETTER, SHEET))
