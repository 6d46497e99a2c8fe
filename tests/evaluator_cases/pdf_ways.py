"""Forged PDFs of an invoice, and legitimate ones that are created differently."""

from __future__ import annotations

import io
from functools import partial
from typing import TYPE_CHECKING, Any

from evaluators.testing.case import another_way, forged
from tests.evaluator_cases.document_cases import at
from tests.evaluator_cases.file_builders import pdf, pdf_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluators.testing.case import Case

    Args = Mapping[str, Any]

_BOX = "/MediaBox [0 0 612 792]"
_FONT = "/Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >>"
_LINE = "BT /F1 12 Tf 72 720 Td (Invoice 7) Tj ET"
_LINES = "BT /F1 12 Tf 14 TL 72 720 Td ({}) Tj T* ({}) Tj ET"
_BLACK_BAR = "0 g 60 710 300 30 re f"
_OFF = "/OCProperties << /OCGs [6 0 R] /D << /OFF [6 0 R] >> >>"
_ON = "/OCProperties << /OCGs [6 0 R] /D << /OFF [] >> >>"
_LAYER = "<< /Type /OCG /Name (draft) >>"
_IN_LAYER = f"/OC /L BDC {_LINE} EMC"
_NOTE = "<< /Type /Annot /Subtype /FreeText /Contents (Invoice 7) {} >>"
_NOTES = "/Annots [6 0 R]"
_NOTE_BOX = "/Rect [72 700 300 730]"
_FORM = "<< /Type /XObject /Subtype /Form /BBox [0 0 612 792] {} >>"


def text_cases(args: Args) -> tuple[Case, ...]:
    """Return cases of a page that reads *Invoice 7*."""
    return (
        *(forged(name, at(args["path"], make), **args) for name, make in _HIDDEN.items()),
        *(another_way(name, at(args["path"], make), **args) for name, make in _SEEN.items()),
        another_way(
            "with a ligature",
            at(args["path"], partial(_unicode, "O\ufb03ce 7")),
            **{**args, "text": "Office 7"},
        ),
        *(
            case(name, at(args["path"], partial(_page, _LINES.format(*lines))), **args)
            for case, name, lines in (
                (another_way, "word hyphenated at the end of a line", ("paid In-", "voice 7")),
                (another_way, "spaced letters", ("I n v o i c e   7", "x")),
                (forged, "word with a hyphen", ("In-voice 7", "x")),
                (forged, "number after a hyphen on two lines", ("Invoice-", "7")),
                (forged, "word split over two lines without a hyphen", ("In", "voice 7")),
                (forged, "one space inside the word", ("I nvoice 7", "x")),
            )
        ),
        another_way(
            "word with a soft hyphen",
            at(args["path"], partial(_unicode, "In\u00advoice 7")),
            **args,
        ),
    )


def count_cases(args: Args) -> tuple[Case, ...]:
    """Return cases of two pages."""
    page = f"<< /Type /Page /Parent 2 0 R {_BOX} >>"
    root = "<< /Type /Catalog /Pages 2 0 R >>"
    forgeries = {
        "two pages only in the page count": [root, _pages(["3 0 R"], 2), page],
        "second page that is not in the page tree": [root, _pages(["3 0 R"], 1), page, page],
    }
    nested = "<< /Type /Pages /Parent 2 0 R /Kids [4 0 R] /Count 1 >>"
    ways = {
        "nested page tree": pdf_of([root, _pages(["3 0 R", "5 0 R"], 2), nested, page, page]),
        "page added incrementally": _added(),
        "restricted permissions": _restricted(["x", "y"]),
    }
    return (
        *(
            forged(name, at(args["path"], partial(pdf_of, objects)), **args)
            for name, objects in forgeries.items()
        ),
        *(
            another_way(name, at(args["path"], partial(bytes, data)), **args)
            for name, data in ways.items()
        ),
    )


def field_cases(args: Args) -> tuple[Case, ...]:
    """Return cases of the field *name* with the value *Ann*."""
    path = args["path"]
    named = "/FT /Tx /T (name)"
    forgeries = {
        "only as the default value": f"{named} /DV (Ann)",
        "only as the tooltip": f"{named} /TU (Ann) /V (Bob)",
        "under a different field's name": "/FT /Tx /T (name) /Parent 6 0 R /V (Ann)",
        "field with a longer name": "/FT /Tx /T (name.first) /V (Ann)",
    }
    lines = {**args, "value": "Ann\nBob"}
    ticked = "/FT /Btn /T (name) /V /Yes /AS /Yes"
    return (
        *(
            forged(name, at(path, partial(_form, entry)), **args)
            for name, entry in forgeries.items()
        ),
        another_way(
            "in Unicode", at(path, partial(_form, f"{named} /V <FEFF0041006E006E>")), **args
        ),
        another_way(
            "ticked box",
            at(path, partial(_form, "/FT /Btn /T (name) /V /Yes /AS /Yes")),
            **{**args, "value": "/Yes"},
        ),
        forged(
            "box drawn unticked",
            at(path, partial(_form, "/FT /Btn /T (name) /V /Yes /AS /Off")),
            **{**args, "value": "/Yes"},
        ),
        another_way(
            "ticked box of a group",
            at(path, partial(_form, "/FT /Btn /T (name) /Parent 6 0 R /V /Yes /AS /Yes")),
            **{**args, "field": "other.name", "value": "/Yes"},
        ),
        forged(
            "box of a group drawn unticked",
            at(path, partial(_form, "/FT /Btn /T (name) /Parent 6 0 R /V /Yes /AS /Off")),
            **{**args, "field": "other.name", "value": "/Yes"},
        ),
        *(
            case(
                f"box whose state is {name}",
                at(path, partial(_form, f"{ticked} /AP << /N {drawings} >>", *forms)),
                **{**args, "value": "/Yes"},
            )
            for case, name, drawings, forms in (
                (
                    another_way,
                    "drawn",
                    "<< /Yes 7 0 R /Off 8 0 R >>",
                    (_mark("0 0 m 9 9 l S"), _mark(" ")),
                ),
                (another_way, "the only drawing", "7 0 R", (_mark("0 0 m 9 9 l S"),)),
                (forged, "not drawn", "<< /Off 7 0 R >>", (_mark("0 0 m 9 9 l S"),)),
                (forged, "an empty drawing", "<< /Yes 7 0 R >>", (_mark(" \n"),)),
                (
                    forged,
                    "not among its indirect drawings",
                    "7 0 R",
                    ("<< /On 8 0 R >>", _mark("0 0 m")),
                ),
            )
        ),
        another_way(
            "unticked box",
            at(
                path,
                partial(
                    _form,
                    "/FT /Btn /T (name) /V /Off /AS /Off /AP << /N << /Yes 7 0 R >> >>",
                    _mark("0 0 m"),
                ),
            ),
            **{**args, "value": "/Off"},
        ),
        *(
            case(
                f"field {name}",
                at(path, partial(_form, f"{named} /V (Ann) {flags}", place=place)),
                **args,
            )
            for case, name, flags, place in (
                (forged, "that is hidden", "/F 2", _SEEN_AT),
                (forged, "that is not displayed", "/F 36", _SEEN_AT),
                (another_way, "that is printed", "/F 4", _SEEN_AT),
                (forged, "left of the page", "", "-90 0 0 20"),
                (forged, "below the page", "", "0 -20 90 0"),
                (forged, "without height", "", "0 20 90 20"),
                (another_way, "with swapped corners", "", "90 20 0 0"),
                (another_way, "partly on the page", "", "-80 -10 10 10"),
            )
        ),
        forged(
            "hidden ticked box",
            at(path, partial(_form, f"{ticked} /F 2")),
            **{**args, "value": "/Yes"},
        ),
        another_way(
            "carriage returns as line ends",
            at(path, partial(_form, f"{named} /V (Ann\\rBob)")),
            **lines,
        ),
        another_way(
            "CRLF line ends",
            at(path, partial(_form, f"{named} /V (Ann\\r\\nBob)")),
            **lines,
        ),
        another_way(
            "in a PDF with restricted permissions", at(path, partial(_restricted, ["x"])), **args
        ),
        *(
            case(
                name,
                at(path, partial(_form, f"{named} /V 7 0 R", _stream("<< {} >>", text))),
                **args,
            )
            for case, name, text in (
                (another_way, "value in a stream", "Ann"),
                (another_way, "value in a stream, in Unicode", "\xfe\xff\0A\0n\0n"),
                (forged, "different value in a stream", "Bob"),
            )
        ),
    )


def title_cases(args: Args) -> tuple[Case, ...]:
    """Return cases of the title *Report*."""
    path = args["path"]
    root = "<< /Type /Catalog /Pages 2 0 R {} >>"
    page = f"<< /Type /Page /Parent 2 0 R {_BOX} >>"
    stream = _metadata(_ENTRY.format("x-default", "Report"))
    outline = "<< /Type /Outlines /First 5 0 R /Last 5 0 R /Count 1 >>"

    def made(catalogue: str, *more: str, info: str = "") -> bytes:
        return pdf_of([root.format(catalogue), _pages(["3 0 R"], 1), page, *more], info)

    entry = "<< /Title (Report) /Parent 4 0 R >>"
    other = made("/Metadata 4 0 R", stream, "<< /Title (Draft) >>", info="/Info 5 0 R")
    utf16 = "<< /Title <FEFF005200650070006F00720074> >>"
    german, french = _ENTRY.format("de", "Bericht"), _ENTRY.format("fr", "Rapport")
    usual = _ENTRY.format("x-default", "Report")
    draft = _ENTRY.format("de", "Report") + _ENTRY.format("x-default", "Draft")
    return (
        another_way(
            "in the metadata, after a different language",
            at(path, lambda: made("/Metadata 4 0 R", _metadata(german + usual))),
            **args,
        ),
        another_way(
            "in the metadata, without a default language",
            at(path, lambda: made("/Metadata 4 0 R", _metadata(german + french))),
            **{**args, "title": "Bericht"},
        ),
        forged(
            "in the metadata, in a language other than the default",
            at(path, lambda: made("/Metadata 4 0 R", _metadata(draft))),
            **args,
        ),
        forged(
            "in the metadata, different title in the information", at(path, lambda: other), **args
        ),
        forged(
            "only as an outline entry",
            at(path, lambda: made("/Outlines 4 0 R", outline, entry)),
            **args,
        ),
        forged(
            "as the subject",
            at(path, lambda: made("", "<< /Subject (Report) >>", info="/Info 4 0 R")),
            **args,
        ),
        another_way("in Unicode", at(path, lambda: made("", utf16, info="/Info 4 0 R")), **args),
        another_way(
            "only in the metadata", at(path, lambda: made("/Metadata 4 0 R", stream)), **args
        ),
        another_way(
            "in a PDF with restricted permissions", at(path, partial(_restricted, ["x"])), **args
        ),
    )


def _page(
    content: str,
    *more: str,
    resources: str = "",
    page: str = "",
    root: str = "",
    font: str = _FONT,
) -> bytes:
    """Create a PDF of one page; additional objects are numbered from 6."""
    return pdf_of(
        [
            f"<< /Type /Catalog /Pages 2 0 R {root} >>",
            _pages(["3 0 R"], 1),
            f"<< /Type /Page /Parent 2 0 R {_BOX} /Contents 4 0 R /Resources 5 0 R {page} >>",
            _stream("<< {} >>", content),
            f"<< {font} {resources} >>",
            *more,
        ]
    )


def _displaced(content: str) -> bytes:
    """Create a PDF of one page whose cross-reference table is not at the stated position."""
    return _page(content).replace(b"startxref\n", b"startxref\n9")


def _stream(head: str, content: str) -> str:
    size = f"/Length {len(content.encode('latin-1'))}"
    return f"{head.format(size)}\nstream\n{content}\nendstream"


def _metadata(titles: str) -> str:
    """Return XMP metadata with these titles."""
    return _stream("<< /Type /Metadata /Subtype /XML {} >>", _XMP.format(titles))


def _pages(kids: list[str], count: int) -> str:
    return f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {count} >>"


_SEEN_AT = "0 0 90 20"


def _mark(drawing: str) -> str:
    """Return a form that draws a path."""
    return _stream("<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] {} >>", drawing)


def _form(entry: str, *more: str, place: str = _SEEN_AT) -> bytes:
    """Create a PDF with a form of one field; additional objects are numbered from 7."""
    parent = "<< /T (other) /Kids [5 0 R] >>"
    field = f"<< /Type /Annot /Subtype /Widget {entry} /Rect [{place}] >>"
    top = "6 0 R" if "/Parent" in entry else "5 0 R"
    return pdf_of(
        [
            f"<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [{top}] >> >>",
            _pages(["3 0 R"], 1),
            f"<< /Type /Page /Parent 2 0 R {_BOX} /Annots [5 0 R] >>",
            "<< >>",
            field,
            parent,
            *more,
        ]
    )


def _added() -> bytes:
    """Append a page to a PDF, like programs that save changes incrementally."""
    import pypdf

    writer = pypdf.PdfWriter(io.BytesIO(pdf(["x"])), incremental=True)
    writer.add_blank_page(612, 792)
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()


def _restricted(pages: list[str]) -> bytes:
    """Encrypt a PDF with only an owner password, so that all users can open it."""
    import pypdf

    source = pdf(pages, title="Report", fields={"name": "Ann"})
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(source))
    writer.encrypt("", "secret", algorithm="AES-256")
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()


def _unicode(text: str) -> bytes:
    """Create a page whose font maps its letters to different ones."""
    letters = sorted(set(text))
    rows = "".join(f"<{65 + n:02x}> <{ord(letter):04x}>\n" for n, letter in enumerate(letters))
    table = (
        "/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <00> <ff> "
        f"endcodespacerange {len(letters)} beginbfchar\n{rows}endbfchar endcmap end"
    )
    codes = "".join(f"{65 + letters.index(letter):02x}" for letter in text)
    font = "/Font << /F2 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 6 0 R >> >>"
    content = f"BT /F2 12 Tf 72 720 Td <{codes}> Tj ET"
    return _page(content, _stream("<< {} >>", table), font=font)


_XMP = (
    '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF '
    'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title><rdf:Alt>{}</rdf:Alt></dc:title>'
    "</rdf:Description></rdf:RDF></x:xmpmeta>"
)
_ENTRY = '<rdf:li xml:lang="{}">{}</rdf:li>'
_FAINT = "/ExtGState << /G << /ca 0 >> >>"
_HALF = "/ExtGState << /G << /ca 0.5 >> >>"
_MULTIPLIED = "/ExtGState << /G << /BM /Multiply >> >>"
_PICTURED = "/XObject << /X 6 0 R >>"
_SHOWN_FORM = _stream(_FORM, _LINE)
_HIDDEN_FORM = _stream(_FORM.format("{} /Resources << " + _FONT + " >>"), f"3 Tr {_LINE}")
_IMAGE = (
    "<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray "
    "/BitsPerComponent 8 /Length 1 >>\nstream\n0\nendstream"
)
_MASK = _stream("<< /Type /XObject /Subtype /Form /BBox [0 0 612 792] {} >>", "")
_MASKED = "/ExtGState << /G << /SMask << /S /Luminosity /G 6 0 R >> >> >>"
_NO_COLORANT = (
    "/ColorSpace << /C [/Separation /None /DeviceGray << /FunctionType 2 /Domain [0 1] /C0 [1] "
    "/C1 [0] /N 1 >>] >>"
)
_HIDDEN = {
    "invisible text mode": partial(_page, f"3 Tr {_LINE}"),
    "clipping text mode": partial(_page, f"7 Tr {_LINE}"),
    "white on the page background": partial(_page, f"1 1 1 rg {_LINE}"),
    "white in CMYK": partial(_page, f"/DeviceCMYK cs 0 0 0 0 sc {_LINE}"),
    "black on a black bar": partial(_page, f"{_BLACK_BAR} {_LINE}"),
    "under a black bar": partial(_page, f"{_LINE} {_BLACK_BAR}"),
    "tiny": partial(_page, _LINE.replace("12 Tf", "1 Tf")),
    "scaled down to tiny": partial(_page, f".1 0 0 .1 60 700 cm {_LINE}"),
    "off the page": partial(_page, _LINE.replace("720 Td", "820 Td")),
    "left of the page": partial(_page, _LINE.replace("72 720 Td", "-72 720 Td")),
    "moved off the page": partial(_page, f"1 0 0 1 700 0 cm {_LINE}"),
    "outside the crop box": partial(_page, _LINE, page="/CropBox [0 0 612 400]"),
    "outside the clipping path": partial(_page, f"0 0 50 50 re W n {_LINE}"),
    "transparent": partial(_page, f"/G gs {_LINE}", resources=_FAINT),
    "nearly transparent": partial(
        _page, f"/G gs {_LINE}", resources="/ExtGState << /G << /ca 0.01 >> >>"
    ),
    "under a soft mask": partial(_page, f"/G gs {_LINE}", _MASK, resources=_MASKED),
    "narrow": partial(_page, _LINE.replace("72 720", "0.01 Tz 72 720")),
    "narrow text matrix": partial(_page, "BT /F1 12 Tf .01 0 0 1 72 720 Tm (Invoice 7) Tj ET"),
    "in the None colorant": partial(_page, f"/C cs 1 scn {_LINE}", resources=_NO_COLORANT),
    "in a clipped form": partial(
        _page, "/X Do", _SHOWN_FORM.replace("612 792", "1 1"), resources=_PICTURED
    ),
    "under a picture": partial(
        _page, f"{_LINE} q 500 0 0 90 50 700 cm /X Do Q", _IMAGE, resources=_PICTURED
    ),
    "in a hidden layer": partial(
        _page, _IN_LAYER, _LAYER, resources="/Properties << /L 6 0 R >>", root=_OFF
    ),
    "invisible text mode in a form, next to text": partial(
        _page,
        f"{_LINE.replace('Invoice 7', 'x')} /X Do",
        _stream(
            _FORM.format("{} /Resources << " + _FONT + " >>"),
            f"3 Tr {_LINE}".replace("72 720 Td ", ""),
        ),
        resources=_PICTURED,
    ),
    "in a file with a displaced cross-reference table": partial(_displaced, _LINE),
    "invisible text mode in a form": partial(_page, "/X Do", _HIDDEN_FORM, resources=_PICTURED),
    "form in a hidden layer": partial(
        _page,
        "/OC /L BDC /X Do EMC",
        _LAYER,
        _SHOWN_FORM,
        resources="/Properties << /L 6 0 R >> /XObject << /X 7 0 R >>",
        root=_OFF,
    ),
    "in a form drawn too many times": partial(
        _page, "/X Do " * 10_001, _SHOWN_FORM, resources=_PICTURED
    ),
    "form moved off the page": partial(
        _page, "1 0 0 1 0 900 cm /X Do", _SHOWN_FORM, resources=_PICTURED
    ),
    "in a hidden annotation": partial(_page, "", _NOTE.format(f"{_NOTE_BOX} /F 2"), page=_NOTES),
    "white by the CMYK operator": partial(_page, f"0 0 0 0 k {_LINE}"),
    **{
        f"white on an unfilled bar, painted with {name}": partial(
            _page, f"60 710 300 30 re {name} 0 g 0 0 9 9 re f 1 g {_LINE}"
        )
        for name in ("S", "s", "n")
    },
    "in an annotation that is not displayed": partial(
        _page, "", _NOTE.format(f"{_NOTE_BOX} /F 32"), page=_NOTES
    ),
    "in an annotation without a height": partial(
        _page, "", _NOTE.format("/Rect [72 700 300 700]"), page=_NOTES
    ),
    "in an annotation without a position": partial(_page, "", _NOTE.format(""), page=_NOTES),
    "in an annotation without a width": partial(
        _page, "", _NOTE.format("/Rect [72 700 72 730]"), page=_NOTES
    ),
    "in a comment annotation": partial(
        _page, "", _NOTE.format(_NOTE_BOX).replace("FreeText", "Text"), page=_NOTES
    ),
    "black on a white bar on a black page": partial(
        _page, f"0 g 0 0 612 792 re f 1 g 60 710 300 30 re f {_LINE}".replace("BT", "1 g BT")
    ),
}
_SEEN = {
    "white on a black bar": partial(_page, f"{_BLACK_BAR} 1 g {_LINE}"),
    "white on a black shape": partial(
        _page, f"0 g 0 700 m 600 700 l 600 800 l 0 800 l h f 1 g {_LINE}"
    ),
    "white on a picture": partial(
        _page, f"q 500 0 0 90 50 700 cm /X Do Q 1 g {_LINE}", _IMAGE, resources=_PICTURED
    ),
    "with a black bar below it": partial(_page, f"{_LINE} 0 g 60 690 300 20 re f"),
    "with a frame around it": partial(_page, f"{_LINE} 0 g 60 700 400 50 re 62 702 396 46 re f*"),
    "after a restored mask": partial(_page, f"q /G gs Q {_LINE}", _MASK, resources=_MASKED),
    "after a mask that is reset": partial(
        _page,
        f"/G gs /N gs {_LINE}",
        _MASK,
        resources=_MASKED.replace(">> >> >>", ">> >> /N << /SMask /None >> >>"),
    ),
    "semi-transparent": partial(_page, f"/G gs {_LINE}", resources=_HALF),
    "condensed": partial(_page, _LINE.replace("72 720", "70 Tz 72 720")),
    "in black after the None colorant": partial(
        _page, f"/C cs 1 scn 0 g {_LINE}", resources=_NO_COLORANT
    ),
    "under a picture with a mask": partial(
        _page,
        f"{_LINE} q 500 0 0 90 50 700 cm /X Do Q",
        _IMAGE.replace("/BitsPerComponent 8", "/BitsPerComponent 8 /Mask [0 0]"),
        resources=_PICTURED,
    ),
    "highlighted": partial(
        _page, f"{_LINE} /G gs 1 1 0 rg 60 710 300 30 re f", resources=_MULTIPLIED
    ),
    "after hidden text": partial(_page, f"q 3 Tr BT (x) Tj ET Q {_LINE}"),
    "enlarged by the text matrix": partial(
        _page, "BT /F1 1 Tf 12 0 0 12 72 720 Tm (Invoice 7) Tj ET"
    ),
    "rotated by 90 degrees": partial(_page, "BT /F1 12 Tf 0 1 -1 0 72 300 Tm (Invoice 7) Tj ET"),
    "on a later line": partial(
        _page, "BT /F1 12 Tf 14 TL 72 720 Td (To Ann) Tj T* (Invoice 7) Tj ET"
    ),
    "with the operator for a new line": partial(
        _page, "BT /F1 12 Tf 0 -14 TD 72 720 Td (To Ann) Tj (Invoice 7) ' ET"
    ),
    "with kerning": partial(_page, "BT /F1 12 Tf 72 720 Td [(Inv) -20 (oice 7)] TJ ET"),
    "in a visible layer": partial(
        _page, _IN_LAYER, _LAYER, resources="/Properties << /L 6 0 R >>", root=_ON
    ),
    "in a form": partial(_page, "/X Do", _SHOWN_FORM, resources=_PICTURED),
    "in a form drawn twice, once off the page": partial(
        _page, "q 1 0 0 1 0 900 cm /X Do Q /X Do", _SHOWN_FORM, resources=_PICTURED
    ),
    **{
        f"white on a black bar, filled with {name}": partial(
            _page, f"0 g 60 710 300 30 re {name} 1 g {_LINE}"
        )
        for name in ("F", "f*", "B", "B*", "b", "b*")
    },
    **{
        f"white on a black shape of curves, with {name}": partial(
            _page, f"0 g 0 700 m {points} {name} h f 1 g {_LINE}"
        )
        for name, points in (
            ("c", "0 900 600 900 600 700"),
            ("v", "600 900 600 700"),
            ("y", "0 900 600 800"),
        )
    },
    **{
        f"under a picture with {entry}": partial(
            _page,
            f"{_LINE} q 500 0 0 90 50 700 cm /X Do Q",
            _IMAGE.replace("/BitsPerComponent 8", f"/BitsPerComponent 8 {entry}"),
            resources=_PICTURED,
        )
        for entry in ("/ImageMask true", "/SMask 7 0 R", "/SMaskInData 1")
    },
    **{
        f"under a bar that is {name}": partial(
            _page, f"{_LINE} q {change} 1 1 0 rg 60 600 300 150 re f Q", resources=_HALF
        )
        for name, change in (
            ("semi-transparent", "/G gs"),
            ("slanted", "1 0 .1 1 0 0 cm"),
            ("slanted in the other direction", "1 .1 0 1 0 0 cm"),
        )
    },
    "in an encoded form": partial(
        _page,
        "/X Do",
        _stream(_FORM.format("/Filter /ASCIIHexDecode {}"), _LINE.encode().hex() + ">"),
        resources=_PICTURED,
    ),
    "with the operator for a new line and word spacing": partial(
        _page, 'BT /F1 12 Tf 14 TL 72 720 Td 0 0 (Invoice 7) " ET'
    ),
    "in an annotation on a page with text": partial(
        _page, _LINE.replace("Invoice 7", "x"), _NOTE.format(_NOTE_BOX), page=_NOTES
    ),
    "in an annotation that is invisible only for unknown types": partial(
        _page, "", _NOTE.format(f"{_NOTE_BOX} /F 1"), page=_NOTES
    ),
    "in an annotation after a different one": partial(
        _page,
        "",
        _NOTE.format(_NOTE_BOX).replace("7", "8"),
        _NOTE.format(_NOTE_BOX),
        page="/Annots [6 0 R 7 0 R]",
    ),
    "in an annotation on the page": partial(_page, "", _NOTE.format(_NOTE_BOX), page=_NOTES),
    "encrypted, without a user password": partial(_restricted, ["Invoice 7 of May"]),
}
