"""Threat model of evaluators of documents and pictures, which run on the host.

What the agent's user can do to what they read: all that it can to files (`tests.attacks.files`); and
hand documents in any format to a parser on the host: bombs, entities, broken and hidden content.

What stands against it: the probe opens files without following links; parsers run in a process with
bounded memory and time, without rights; only what people see of a document counts.
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
    def fill(book: Any) -> None:  # noqa: ANN401 - openpyxl's
        book.active["B2"] = value

    return xlsx(fill)


def _hidden() -> bytes:
    def build(document: Any) -> None:  # noqa: ANN401 - python-docx's
        document.add_paragraph().add_run(WORDS).font.hidden = True

    return docx(build)


LETTER = Target(
    "a letter", "letter.docx", contents(_letter(WORDS)), contents(_letter("Dear Ann")), _paragraph
)
SHEET = Target("a workbook", "pay.xlsx", contents(_sheet(12)), contents(_sheet(7)), _cell)
_MODEL = ThreatModel(FAMILY, (LETTER, SHEET), WRITES, MOUNTS, TIMES)

ATTACKS: tuple[ShellAttack, ...] = (
    *generate(_MODEL),
    hostile(FAMILY, LETTER, "hidden text", contents(_hidden()), "hidden text is no paragraph"),
    hostile(
        FAMILY,
        LETTER,
        "a bomb",
        contents(bombed(_letter("Dear Ann"))),
        "what unpacks to too much is unreadable",
    ),
    hostile(
        FAMILY,
        LETTER,
        "an external entity",
        contents(with_entities(_letter("Dear Ann"), "word/document.xml")),
        "documents with entities are unreadable",
    ),
    hostile(
        FAMILY,
        SHEET,
        "a text that looks like a number",
        contents(_sheet("12")),
        "a text is no number",
    ),
)
HONEST = tuple(honest(FAMILY, target) for target in (LETTER, SHEET))
