"""Documents that take much memory or time: bombs, nesting, loops, sizes."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from typing import TYPE_CHECKING, Any

from tests.evaluator_cases.file_builders import (
    changed,
    docx,
    encoded,
    noise,
    odf,
    pdf_of,
    pptx,
    unzipped,
    xlsx,
)
from tests.hostile_documents.bases import PARTS, HostileDocument, bases, cell, page, table

if TYPE_CHECKING:
    from collections.abc import Iterator

_BOMB_MIB = (60, 400)
_LEVELS = (2_000, 200_000)
_LAUGHS = "".join(f'<!ENTITY l{number} "{f"&l{number - 1};" * 10}">' for number in range(1, 10))
_FORMULAS = (
    '=REPT("a";2000000000)',
    "=SUMPRODUCT([.A1:.AMJ1048576]*[.A1:.AMJ1048576])",
    "=[.A1]+1",
    "=FACT(1E9)",
    "=COMBIN(1E9;5E8)",
    "=MMULT([.A1:.ZZ700];[.A1:.ZZ700])",
    "=" + "(" * 5000 + "1" + ")" * 5000,
    "=" + "+".join(["1"] * 20_000),
    '=SEARCH("(a+)+$";"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!")',
)


def huge() -> Iterator[HostileDocument]:
    """Iterate over the documents."""
    for suffix, part in PARTS.items():
        data = bases()[suffix]
        xml = unzipped(data)[part]
        for mib in _BOMB_MIB:
            yield HostileDocument(f"{suffix}: {mib} MiB of text", suffix, _bomb(data, part, mib))
        for levels in _LEVELS:
            deep = changed(data, {part: _nested(xml, levels)})
            yield HostileDocument(f"{suffix}: {levels} elements deep", suffix, deep)
        laughing = changed(data, {part: _laughing(xml)})
        yield HostileDocument(f"{suffix}: entities of entities", suffix, laughing)
    for number, formula in enumerate(_FORMULAS):
        data = odf("spreadsheet", table(f"<table:table-row>{cell(formula)}</table:table-row>"))
        yield HostileDocument(f"ods: formula {number}", "ods", data)
    yield from _sheets()
    yield from _texts_and_slides()
    yield from _pictures()
    yield from _pdfs()


def _bomb(data: bytes, part: str, mib: int) -> bytes:
    """Return an archive whose content has a long text, written in pieces."""
    parts = unzipped(data)
    end = parts[part].rindex(b"</")
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compresslevel=1) as archive:
        for name, content in parts.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            with archive.open(info, "w") as member:
                if name != part:
                    member.write(content)
                    continue
                member.write(content[:end] + b"<!--")
                for _ in range(mib):
                    member.write(b"a" * (1 << 20))
                member.write(b"-->" + content[end:])
    return file.getvalue()


def _nested(xml: bytes, levels: int) -> bytes:
    """Wrap the last element's content into elements of its own kind."""
    start = xml.rindex(b"</")
    tag = xml[start + 2 : xml.index(b">", start)]
    return xml[:start] + b"<%s>" % tag * levels + b"</%s>" % tag * levels + xml[start:]


def _laughing(xml: bytes) -> bytes:
    head, mark, rest = (
        "<?xml version='1.0'?>" * (not xml.startswith(b"<?")) + xml.decode()
    ).partition("?>")
    end = rest.rindex("</")
    entities = f'<!DOCTYPE x [<!ENTITY l0 "ha">{_LAUGHS}]>'
    return f"{head}{mark}{entities}{rest[:end]}&l9;{rest[end:]}".encode()


def _sheets() -> Iterator[HostileDocument]:
    repeated = (
        '<table:table-row table:number-rows-repeated="1048576"><table:table-cell '
        'table:number-columns-repeated="1024" office:value-type="float" office:value="1"/>'
        "</table:table-row>"
    )
    yield HostileDocument("ods: a billion cells", "ods", odf("spreadsheet", table(repeated)))
    yield HostileDocument("csv: a million cells", "csv", (b"1," * 999 + b"1\n") * 1000)
    yield HostileDocument("csv: a million rows", "csv", b"1\n" * 1_000_000)
    yield HostileDocument("csv: one long cell", "csv", b"a" * (20 << 20))
    yield HostileDocument("csv: quotes", "csv", b'"' * (1 << 20))
    sheets = "".join(f'<table:table table:name="S{number}"/>' for number in range(5000))
    yield HostileDocument("ods: 5,000 sheets", "ods", odf("spreadsheet", sheets))

    def corner(book: Any) -> None:
        book.active["XFD1048576"] = 1

    yield HostileDocument("xlsx: a cell in the last corner", "xlsx", xlsx(corner))

    def rows(book: Any) -> None:
        for number in range(4000):
            book.active.append(list(range(number, number + 20)))

    yield HostileDocument("xlsx: 80,000 cells", "xlsx", xlsx(rows))


def _texts_and_slides() -> Iterator[HostileDocument]:
    paragraphs = "<text:p>word</text:p>" * 200_000
    yield HostileDocument("odt: 200,000 paragraphs", "odt", odf("text", paragraphs))
    breaks = "<text:p>a</text:p>" * 2500
    automatic = '<style:style style:name="B" style:family="paragraph"><style:paragraph-properties fo:break-before="page"/></style:style>'
    pages = breaks.replace("<text:p>", '<text:p text:style-name="B">')
    yield HostileDocument("odt: 2,500 pages", "odt", odf("text", pages, automatic=automatic))
    word = f"<text:p>{'a' * 5_000_000}</text:p>"
    yield HostileDocument("odt: a word of 5 million letters", "odt", odf("text", word))
    inner = "<text:p>x</text:p>"
    for _ in range(400):
        inner = f"<table:table><table:table-column/><table:table-row><table:table-cell>{inner}</table:table-cell></table:table-row></table:table>"
    yield HostileDocument("odt: tables in tables", "odt", odf("text", inner))
    spans = "<text:span>" * 5000 + "x" + "</text:span>" * 5000
    yield HostileDocument("odt: spans in spans", "odt", odf("text", f"<text:p>{spans}</text:p>"))
    groups = "<draw:g>" * 3000 + "<draw:rect/>" + "</draw:g>" * 3000
    yield HostileDocument("odp: groups in groups", "odp", odf("presentation", page(groups)))
    many = page("<draw:rect/>" * 20_000)
    yield HostileDocument("odp: 20,000 shapes", "odp", odf("presentation", many))

    def slides(deck: Any) -> None:
        for _ in range(300):
            deck.slides.add_slide(deck.slide_layouts[6])

    yield HostileDocument("pptx: 300 slides", "pptx", pptx(slides))

    def cells(document: Any) -> None:
        document.add_table(60, 60)

    yield HostileDocument("docx: a table of 3,600 cells", "docx", docx(cells))


def _pictures() -> Iterator[HostileDocument]:
    small = encoded(noise(1))
    for side in (30_000, 100_000, 2_000_000_000):
        head = b"IHDR" + struct.pack(">II", side, side) + small[24:29]
        data = small[:12] + head + struct.pack(">I", zlib.crc32(head)) + small[33:]
        yield HostileDocument(f"png: a header of {side} px", "png", data)
        frame = '<text:p><draw:frame svg:width="9cm" svg:height="9cm"><draw:image xlink:href="Pictures/a.png"/></draw:frame></text:p>'
        document = odf("text", frame, files={"Pictures/a.png": data})
        yield HostileDocument(f"odt: a picture of {side} px", "odt", document)
    ends = zlib.compress(bytes(12_000 * 36_001), 1)
    parts = (
        b"IHDR" + struct.pack(">IIBBBBB", 12_000, 12_000, 8, 2, 0, 0, 0),
        b"IDAT" + ends,
        b"IEND",
    )
    blocks = b"".join(
        struct.pack(">I", len(part) - 4) + part + struct.pack(">I", zlib.crc32(part))
        for part in parts
    )
    yield HostileDocument("png: 144 megapixels of black", "png", small[:8] + blocks)


def _pdfs() -> Iterator[HostileDocument]:
    catalog, pages = "<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>"

    def of_page(entries: str, *objects: str) -> bytes:
        return pdf_of(
            [
                catalog,
                pages,
                f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]{entries}>>",
                *objects,
            ]
        )

    def stream(content: str, entries: str = "") -> str:
        return f"<<{entries}/Length {len(content)}>>\nstream\n{content}\nendstream"

    own = "/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 5 0 R>>>>"
    loops = {
        "pages that are their own kids": pdf_of(
            [catalog, "<</Type/Pages/Kids[2 0 R 2 0 R]/Count 2>>"]
        ),
        "a form in itself": of_page(
            "/Contents 4 0 R/Resources<</XObject<</X 5 0 R>>>>",
            stream("/X Do"),
            stream("/X Do /X Do", own),
        ),
        "a length that is its own stream": of_page(
            "/Contents 4 0 R", "<</Length 4 0 R>>\nstream\nx\nendstream"
        ),
        "a parent that is a page": pdf_of(
            [
                catalog,
                "<</Type/Pages/Parent 3 0 R/Kids[3 0 R]/Count 1>>",
                "<</Type/Page/Parent 3 0 R>>",
            ]
        ),
        "an outline that is its own next": pdf_of(
            [
                "<</Type/Catalog/Pages 2 0 R/Outlines 4 0 R>>",
                pages,
                "<</Type/Page/Parent 2 0 R>>",
                "<</First 5 0 R/Last 5 0 R>>",
                "<</Title(x)/Next 5 0 R/First 5 0 R/Parent 4 0 R>>",
            ]
        ),
        "fields that are their own kids": pdf_of(
            [
                "<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[4 0 R]>>>>",
                pages,
                "<</Type/Page/Parent 2 0 R/Annots[4 0 R]>>",
                "<</FT/Tx/T(a)/Kids[4 0 R]/Parent 4 0 R/Subtype/Widget/Rect[0 0 9 9]>>",
            ]
        ),
        "a page of 10 million points": pdf_of(
            [catalog, pages, "<</Type/Page/Parent 2 0 R/MediaBox[0 0 1E7 1E7]>>"]
        ),
        "a page without size": pdf_of(
            [catalog, pages, "<</Type/Page/Parent 2 0 R/MediaBox[0 0 0 0]>>"]
        ),
        "200,000 nested states": of_page("/Contents 4 0 R", stream("q " * 200_000)),
        "a million lines": of_page("/Contents 4 0 R", stream("0 0 m 300 200 l S " * 1_000_000)),
        "nested arrays": of_page(f"/Contents {'[' * 50_000}{']' * 50_000}"),
        "20,000 pages": pdf_of(
            [
                catalog,
                f"<</Type/Pages/Kids[{'3 0 R ' * 20_000}]/Count 20000>>",
                "<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>>",
            ]
        ),
        "a billion pages claimed": pdf_of(
            [catalog, "<</Type/Pages/Kids[3 0 R]/Count 2147483647>>", "<</Type/Page/Parent 2 0 R>>"]
        ),
    }
    for name, data in loops.items():
        yield HostileDocument(f"pdf: {name}", "pdf", data)
