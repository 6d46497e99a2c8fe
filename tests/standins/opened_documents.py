"""A suite of ten tasks whose setup opens a document, each with a word that the screen must show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import docx
import openpyxl
import pptx
import yaml
from odf.opendocument import OpenDocumentSpreadsheet, OpenDocumentText
from odf.table import Table, TableCell, TableRow
from odf.text import P
from PIL import Image, ImageDraw, ImageFont

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def _xlsx(path: Path, word: str) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in range(1, 12):
        sheet.append([f"{word} {row}", row * 3])
    book.save(path)


def _ods(path: Path, word: str) -> None:
    book = OpenDocumentSpreadsheet()
    table = Table(name="Sheet")
    for _ in range(12):
        row, cell = TableRow(), TableCell(valuetype="string")
        cell.addElement(P(text=word))
        row.addElement(cell)
        table.addElement(row)
    book.spreadsheet.addElement(table)
    book.save(path)


def _docx(path: Path, word: str) -> None:
    page = docx.Document()
    page.add_heading(word, 0)
    for _ in range(6):
        page.add_paragraph("Fruit and sugar are boiled in a large kettle.")
    page.save(str(path))


def _odt(path: Path, word: str) -> None:
    text = OpenDocumentText()
    for _ in range(8):
        text.text.addElement(P(text=f"{word} in the valley"))
    text.save(path)


def _pptx(path: Path, word: str) -> None:
    talk = pptx.Presentation()
    slide = talk.slides.add_slide(talk.slide_layouts[0])
    assert slide.shapes.title is not None
    slide.shapes.title.text = word
    talk.save(str(path))


def _lines(path: Path, word: str) -> None:
    path.write_text(f"# {word}\n" * 12)


def _html(path: Path, word: str) -> None:
    path.write_text(f"<!doctype html><title>Garden</title><h1>{word}</h1><p>Seeds and soil.</p>")


def _png(path: Path, word: str) -> None:
    picture = Image.new("RGB", (600, 400), "white")
    font = ImageFont.load_default(size=90)
    ImageDraw.Draw(picture).text((60, 150), word, fill="black", font=font)
    picture.save(path)


DOCUMENTS: dict[str, tuple[str, str, str, Callable[[Path, str], None]]] = {
    "calc-xlsx": ("birds.xlsx", "Ostrich", "", _xlsx),
    "calc-ods": ("seabirds.ods", "Pelican", "", _ods),
    "writer-docx": ("recipe.docx", "Marmalade", "", _docx),
    "writer-odt": ("wine.odt", "Vineyard", "", _odt),
    "impress-pptx": ("talk.pptx", "Lighthouse", "", _pptx),
    "editor-text": ("notes.txt", "Telescope", "", _lines),
    "editor-code": ("tool.py", "Windmill", "org.gnome.gedit", _lines),
    "browser-page": ("page.html", "Sunflower", "", _html),
    "browser-picture": ("sign.png", "HARBOUR", "", _png),
    "gimp-picture": ("ice.png", "GLACIER", "gimp", _png),
}
"""File, word on the screen, application (empty for the default one) and builder, by task."""


def write_suite(folder: Path, tasks: tuple[str, ...]) -> Path:
    """Write the suite with some of the tasks; return its folder."""
    (folder / "data").mkdir(parents=True)
    for task in tasks:
        name, word, application, build = DOCUMENTS[task]
        build(folder / "data" / name, word)
        (folder / f"{task}.yaml").write_text(yaml.safe_dump(_task(task, name, application)))
    suite: dict[str, Any] = {"name": "opened", "version": "1", "description": "Opened documents."}
    suite["tasks"] = [f"{task}.yaml" for task in tasks]
    (folder / "suite.yaml").write_text(yaml.safe_dump(suite))
    return folder


def _task(task: str, name: str, application: str) -> dict[str, Any]:
    opening = {"path": f"~/{name}"} | ({"desktop_id": application} if application else {})
    copying = {"source": f"data/{name}", "path": f"~/{name}"}
    answer = {"on": "session", "check": "answer_equals", "with": {"expected": "seen"}}
    return {
        "schema_version": 2,
        "id": task,
        "instruction": "Answer 'seen'.",
        "roles": {"desktop": "desktop"},
        "setup": [
            {"on": "desktop", "do": "copy_files", "with": copying},
            {"on": "desktop", "do": "open_document", "with": opening},
        ],
        "graph": [{"id": "answered", **answer}],
        "oracle": [{"do": "submit", "with": {"answer": "seen"}}],
    }
