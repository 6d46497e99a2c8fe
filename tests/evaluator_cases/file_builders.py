"""Build small documents and pictures for test cases."""

from __future__ import annotations

import base64
import io
import re
import warnings
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evaluators.pictures import Pixels

_NAMESPACES = " ".join(
    f'xmlns:{name}="{address}"'
    for name, address in {
        "office": "urn:oasis:names:tc:opendocument:xmlns:office:1.0",
        "style": "urn:oasis:names:tc:opendocument:xmlns:style:1.0",
        "text": "urn:oasis:names:tc:opendocument:xmlns:text:1.0",
        "table": "urn:oasis:names:tc:opendocument:xmlns:table:1.0",
        "draw": "urn:oasis:names:tc:opendocument:xmlns:drawing:1.0",
        "fo": "urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0",
        "svg": "urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0",
        "chart": "urn:oasis:names:tc:opendocument:xmlns:chart:1.0",
        "presentation": "urn:oasis:names:tc:opendocument:xmlns:presentation:1.0",
        "xlink": "http://www.w3.org/1999/xlink",
        "loext": "urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0",
    }.items()
)
_TIME = re.compile(rb"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
"""Times in the properties of Office documents."""
_MIME = "application/vnd.oasis.opendocument."


def odf(
    kind: str,
    body: str,
    *,
    automatic: str = "",
    styles: str = "",
    files: Mapping[str, bytes] | None = None,
    doctype: str = "",
) -> bytes:
    """Build an OpenDocument file.

    Args:
        kind: ``text``, ``spreadsheet`` or ``presentation``.
        body: XML in ``office:KIND``.
        automatic: XML of automatic styles.
        styles: XML of ``office:document-styles`` (named styles, master pages).
        files: additional members; folders of objects have their own media type.
        doctype: document type before the content's root element.
    """
    content = (
        f"<?xml version='1.0' encoding='UTF-8'?>{doctype}<office:document-content {_NAMESPACES} "
        f'office:version="1.3"><office:automatic-styles>{automatic}</office:automatic-styles>'
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body>"
        "</office:document-content>"
    )
    named = (
        f"<?xml version='1.0' encoding='UTF-8'?><office:document-styles {_NAMESPACES} "
        f'office:version="1.3">{styles}</office:document-styles>'
    )
    parts = {"content.xml": content.encode(), "styles.xml": named.encode(), **(files or {})}
    entries = "".join(
        f'<manifest:file-entry manifest:full-path="{name}" manifest:media-type="{_media(name)}"/>'
        for name in ("/", *_with_folders(parts))
    ).replace(
        'full-path="/" manifest:media-type="text/xml"',
        f'full-path="/" manifest:media-type="{_MIME}{kind}"',
    )
    manifest = (
        '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
        f"{entries}</manifest:manifest>"
    )
    return zipped(
        {"mimetype": f"{_MIME}{kind}".encode(), **parts, "META-INF/manifest.xml": manifest.encode()}
    )


def chart_object(chart: str, automatic: str = "") -> dict[str, bytes]:
    """Return the members of ``Object 1``, a chart with this XML."""
    content = (
        f"<?xml version='1.0' encoding='UTF-8'?><office:document-content {_NAMESPACES} "
        f'office:version="1.3"><office:automatic-styles>{automatic}</office:automatic-styles>'
        f"<office:body><office:chart>{chart}</office:chart></office:body>"
        "</office:document-content>"
    )
    return {"Object 1/content.xml": content.encode()}


def _with_folders(parts: Mapping[str, bytes]) -> list[str]:
    folders = {name.rpartition("/")[0] + "/" for name in parts if name.startswith("Object")}
    return [*parts, *sorted(folders)]


def _media(name: str) -> str:
    if name.startswith("Object") and name.endswith("/"):
        return f"{_MIME}chart"
    return "image/png" if name.endswith(".png") else "text/xml"


def docx(build: Callable[[Any], object]) -> bytes:
    """Build a Word document; `build` adds the content."""
    import docx as library

    document = library.Document()
    build(document)
    return _saved(document)


def xlsx(build: Callable[[Any], object], values: Mapping[str, float | str] | None = None) -> bytes:
    """Build an Excel workbook.

    Args:
        build: function that fills the workbook.
        values: cached results of the formulas of the first sheet, by cell.
    """
    import openpyxl

    book = openpyxl.Workbook()
    build(book)
    data = _saved(book)
    if not values:
        return data
    name = "xl/worksheets/sheet1.xml"
    sheet = unzipped(data)[name].decode()
    for cell, value in values.items():
        kind = ' t="str"' if isinstance(value, str) else ""
        look = re.compile(rf'<c r="{cell}"([^>]*)>(<f>.*?</f>)<v ?/?>(?:</v>)?</c>')
        sheet = look.sub(rf'<c r="{cell}"\1{kind}>\2<v>{value}</v></c>', sheet)
    return changed(data, {name: sheet.encode()})


def pptx(build: Callable[[Any], object]) -> bytes:
    """Build a PowerPoint presentation; `build` adds the content."""
    import pptx as library

    deck = library.Presentation()
    build(deck)
    return _saved(deck)


def _saved(document: Any) -> bytes:
    """Return the same bytes at each call: views are recorded by them."""
    file = io.BytesIO()
    document.save(file)
    parts = unzipped(file.getvalue())
    return zipped({name: _timeless(data) for name, data in parts.items()})


def _timeless(data: bytes) -> bytes:
    if data.startswith(b"PK"):
        return zipped({name: _timeless(part) for name, part in unzipped(data).items()})
    return _TIME.sub(b"2026-01-01T00:00:00Z", data)


def pdf(pages: Sequence[str], *, title: str = "", fields: Mapping[str, str] | None = None) -> bytes:
    """Build a PDF with a line of text on each page.

    Args:
        pages: text of each page; brackets must be balanced.
        title: title in the document information.
        fields: values of text fields by name.
    """
    objects = ["", ""]
    kids = []
    for text in pages:
        stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET"
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        font = "/Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] {font} "
            f"/Contents {len(objects)} 0 R >>"
        )
        kids.append(f"{len(objects)} 0 R")
    widgets = []
    for name, value in (fields or {}).items():
        objects.append(
            f"<< /Type /Annot /Subtype /Widget /FT /Tx /T ({name}) /V ({value}) "
            "/Rect [0 0 90 20] >>"
        )
        widgets.append(f"{len(objects)} 0 R")
    form = f"/AcroForm << /Fields [{' '.join(widgets)}] >>" if widgets else ""
    objects[0] = f"<< /Type /Catalog /Pages 2 0 R {form} >>"
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    info = ""
    if title:
        objects.append(f"<< /Title ({title}) >>")
        info = f"/Info {len(objects)} 0 R"
    return pdf_of(objects, info)


def pdf_of(objects: Sequence[str], trailer: str = "") -> bytes:
    """Build a PDF from its objects, numbered from 1; the first is the catalogue.

    Args:
        objects: in Latin-1.
        trailer: additional entries of the trailer.
    """
    data = b"%PDF-1.4\n"
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(data))
        data += f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1")
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    end = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R {trailer} >>\nstartxref\n{len(data)}\n%%EOF\n"
    return data + f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{end}".encode()


_QUICK = 1
"""Compression level."""


def zipped(parts: Mapping[str, bytes]) -> bytes:
    """Pack members into an archive, the first one uncompressed; fast, because thousands are created."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, (name, data) in enumerate(parts.items()):
            stored = zipfile.ZIP_STORED if number == 0 else zipfile.ZIP_DEFLATED
            archive.writestr(
                zipfile.ZipInfo(name), data, compress_type=stored, compresslevel=_QUICK
            )
    return file.getvalue()


def unzipped(data: bytes) -> dict[str, bytes]:
    """Return the members of an archive."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def changed(data: bytes, parts: Mapping[str, bytes]) -> bytes:
    """Return an archive with some members replaced or added."""
    return zipped({**unzipped(data), **parts})


def with_moving_text(document: bytes, before: str, animation: str = "scroll") -> bytes:
    """Return an OpenDocument file with shapes whose text moves.

    Args:
        document: the file.
        before: XML before whose occurrences the shapes are put.
        animation: how the text moves; ``none`` for not at all.
    """
    content = unzipped(document)["content.xml"].decode()
    style = (
        '<style:style style:name="Moving" style:family="graphic"><style:graphic-properties '
        f'text:animation="{animation}" draw:stroke="none" draw:fill="none"/></style:style>'
    )
    shape = (
        '<draw:rect draw:style-name="Moving" svg:x="0.2in" svg:y="9.2in" svg:width="1in" '
        'svg:height="0.3in"><text:p>new</text:p></draw:rect>'
    )
    end = "</office:automatic-styles>"
    assert end in content
    assert before in content
    moving = content.replace(end, style + end).replace(before, shape + before)
    return changed(document, {"content.xml": moving.encode()})


def bombed(data: bytes) -> bytes:
    """Return an archive with an additional member that unpacks to 97 MiB."""
    file = io.BytesIO(data)
    with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("bomb.bin"), bytes(97 << 20), zipfile.ZIP_DEFLATED)
    return file.getvalue()


def doubled(data: bytes, part: str) -> bytes:
    """Return an archive that contains a part twice."""
    file = io.BytesIO(data)
    with warnings.catch_warnings(), zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as archive:
        warnings.simplefilter("ignore", UserWarning)
        archive.writestr(zipfile.ZipInfo(part), unzipped(data)[part])
    return file.getvalue()


def with_entities(data: bytes, part: str) -> bytes:
    """Return a document with a part that declares an external entity."""
    xml = unzipped(data)[part].decode()
    head, mark, rest = xml.partition("?>")
    entity = '<!DOCTYPE x [<!ENTITY file SYSTEM "file:///etc/passwd">]>'
    return changed(data, {part: f"{head}{mark}{entity}{rest}".encode()})


def broken(data: bytes, part: str) -> bytes:
    """Return a document with a part whose XML is truncated."""
    xml = unzipped(data)[part]
    return changed(data, {part: xml[: -len(xml) // 20]})


def noise(seed: int, size: tuple[int, int] = (160, 120), cells: tuple[int, int] = (8, 6)) -> Pixels:
    """Build a smooth coloured picture, different for each seed.

    Args:
        seed: seed of the picture.
        size: width and height in px.
        cells: number of details, horizontally and vertically.
    """
    rough = np.random.default_rng(seed).integers(30, 225, (cells[1], cells[0], 3), dtype=np.uint8)
    scaled = Image.fromarray(rough).resize(size, Image.Resampling.BICUBIC)
    return np.array(scaled)


def encoded(pixels: Pixels, form: str = "PNG", **options: object) -> bytes:
    """Encode a picture."""
    file = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels)).save(file, form, **options)
    return file.getvalue()


def scaled(pixels: Pixels, width: int, height: int) -> Pixels:
    """Scale a picture to a size in px."""
    return np.array(Image.fromarray(pixels).resize((width, height), Image.Resampling.BICUBIC))


def as_url(data: bytes) -> str:
    """Return a picture's file as a ``data:`` URL."""
    return f"data:image/png;base64,{base64.b64encode(data).decode()}"
