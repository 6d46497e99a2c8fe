"""PDFs for tests, written object by object."""

from __future__ import annotations

_FORM = b"BT /F 14 Tf 20 30 Td (nested words) Tj ET"
_FIELD = b"BT /F 12 Tf 2 5 Td (Alice) Tj ET"
_RESOURCES = b"/Resources<</Font<</F 5 0 R>>>>"


def _stream(entries: bytes, data: bytes) -> bytes:
    return b"<<%s/Length %d>>stream\n%s\nendstream" % (entries, len(data), data)


def _widget(name: bytes, value: bytes, bottom: int, entries: bytes) -> bytes:
    return (
        b"<</Type/Annot/Subtype/Widget/FT/Tx/T(%s)/V(%s)/Rect[150 %d 280 %d]/F 4/P 3 0 R"
        b"/DA(/F 12 Tf 0 g)/AP<</N 10 0 R>>%s>>" % (name, value, bottom, bottom + 20, entries)
    )


def pdf_file(content: bytes) -> bytes:
    """Return a PDF of one page of 300 by 200 points.

    It has a font F, a layer L that is off, a form X with the text *nested words*, a field *open*, and
    a field *layered* in the layer.

    Args:
        content: operators of the page.
    """
    objects = [
        (
            b"<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[8 0 R 9 0 R]/DR<</Font<</F 5 0 R>>>>>>"
            b"/OCProperties<</OCGs[6 0 R]/D<</OFF[6 0 R]>>>>>>"
        ),
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        (
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents 4 0 R/Annots[8 0 R 9 0 R]"
            b"/Resources<</Font<</F 5 0 R>>/XObject<</X 7 0 R>>/Properties<</L 6 0 R>>>>>>"
        ),
        _stream(b"", content),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        b"<</Type/OCG/Name(L)>>",
        _stream(b"/Type/XObject/Subtype/Form/BBox[0 0 300 200]" + _RESOURCES, _FORM),
        _widget(b"open", b"Alice", 150, b""),
        _widget(b"layered", b"Bob", 100, b"/OC 6 0 R"),
        _stream(b"/Type/XObject/Subtype/Form/BBox[0 0 130 20]" + _RESOURCES, _FIELD),
    ]
    data = bytearray(b"%PDF-1.6\n")
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    for offset in offsets:
        data += b"%010d 00000 n \n" % offset
    data += b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, start)
    return bytes(data)
