"""Forged PDFs of an invoice, and legitimate ones created in other ways."""

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
                (another_way, "a word divided at the end of a line", ("paid In-", "voice 7")),
                (another_way, "its letters apart", ("I n v o i c e   7", "x")),
                (forged, "a word with a hyphen", ("In-voice 7", "x")),
                (forged, "a number divided so", ("Invoice-", "7")),
                (forged, "two words on two lines", ("In", "voice 7")),
                (forged, "two letters apart", ("I nvoice 7", "x")),
            )
        ),
        another_way(
            "a word that may be divided",
            at(args["path"], partial(_unicode, "In\u00advoice 7")),
            **args,
        ),
    )


def count_cases(args: Args) -> tuple[Case, ...]:
    """Return cases of two pages."""
    page = f"<< /Type /Page /Parent 2 0 R {_BOX} >>"
    root = "<< /Type /Catalog /Pages 2 0 R >>"
    forgeries = {
        "two that only a number states": [root, _pages(["3 0 R"], 2), page],
        "a second one that nothing shows": [root, _pages(["3 0 R"], 1), page, page],
    }
    nested = "<< /Type /Pages /Parent 2 0 R /Kids [4 0 R] /Count 1 >>"
    ways = {
        "in a tree": pdf_of([root, _pages(["3 0 R", "5 0 R"], 2), nested, page, page]),
        "added later": _added(),
        "with rights that are restricted": _restricted(["x", "y"]),
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
        "as its default only": f"{named} /DV (Ann)",
        "as its tooltip only": f"{named} /TU (Ann) /V (Bob)",
        "under another's name": "/FT /Tx /T (name) /Parent 6 0 R /V (Ann)",
        "of a field with a longer name": "/FT /Tx /T (name.first) /V (Ann)",
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
            "a box that is ticked",
            at(path, partial(_form, "/FT /Btn /T (name) /V /Yes /AS /Yes")),
            **{**args, "value": "/Yes"},
        ),
        forged(
            "a box that is drawn unticked",
            at(path, partial(_form, "/FT /Btn /T (name) /V /Yes /AS /Off")),
            **{**args, "value": "/Yes"},
        ),
        another_way(
            "a box of a group that is ticked",
            at(path, partial(_form, "/FT /Btn /T (name) /Parent 6 0 R /V /Yes /AS /Yes")),
            **{**args, "field": "other.name", "value": "/Yes"},
        ),
        forged(
            "a box of a group that is drawn unticked",
            at(path, partial(_form, "/FT /Btn /T (name) /Parent 6 0 R /V /Yes /AS /Off")),
            **{**args, "field": "other.name", "value": "/Yes"},
        ),
        *(
            case(
                f"a box whose state is {name}",
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
                (forged, "drawn as nothing", "<< /Yes 7 0 R >>", (_mark(" \n"),)),
                (
                    forged,
                    "not among its drawings elsewhere",
                    "7 0 R",
                    ("<< /On 8 0 R >>", _mark("0 0 m")),
                ),
            )
        ),
        another_way(
            "a box that is not ticked",
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
                f"a field {name}",
                at(path, partial(_form, f"{named} /V (Ann) {flags}", place=place)),
                **args,
            )
            for case, name, flags, place in (
                (forged, "that is hidden", "/F 2", _SEEN_AT),
                (forged, "that is not viewed", "/F 36", _SEEN_AT),
                (another_way, "that is printed", "/F 4", _SEEN_AT),
                (forged, "left of the page", "", "-90 0 0 20"),
                (forged, "below the page", "", "0 -20 90 0"),
                (forged, "without height", "", "0 20 90 20"),
                (another_way, "whose corners are turned round", "", "90 20 0 0"),
                (another_way, "partly on the page", "", "-80 -10 10 10"),
            )
        ),
        forged(
            "a ticked box that is hidden",
            at(path, partial(_form, f"{ticked} /F 2")),
            **{**args, "value": "/Yes"},
        ),
        another_way(
            "lines that end otherwise", at(path, partial(_form, f"{named} /V (Ann\\rBob)")), **lines
        ),
        another_way(
            "lines of two characters",
            at(path, partial(_form, f"{named} /V (Ann\\r\\nBob)")),
            **lines,
        ),
        another_way("in a form that is restricted", at(path, partial(_restricted, ["x"])), **args),
        *(
            case(
                name,
                at(path, partial(_form, f"{named} /V 7 0 R", _stream("<< {} >>", text))),
                **args,
            )
            for case, name, text in (
                (another_way, "in a stream", "Ann"),
                (another_way, "in a stream, in Unicode", "\xfe\xff\0A\0n\0n"),
                (forged, "another one in a stream", "Bob"),
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
            "in the metadata, after another language",
            at(path, lambda: made("/Metadata 4 0 R", _metadata(german + usual))),
            **args,
        ),
        another_way(
            "in the metadata, in no usual language",
            at(path, lambda: made("/Metadata 4 0 R", _metadata(german + french))),
            **{**args, "title": "Bericht"},
        ),
        forged(
            "in the metadata, in another language than the usual one",
            at(path, lambda: made("/Metadata 4 0 R", _metadata(draft))),
            **args,
        ),
        forged("in the metadata, another one in the information", at(path, lambda: other), **args),
        forged(
            "as an entry of the contents only",
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
            "in the metadata alone", at(path, lambda: made("/Metadata 4 0 R", stream)), **args
        ),
        another_way("in one that is restricted", at(path, partial(_restricted, ["x"])), **args),
    )


def _page(
    content: str,
    *more: str,
    resources: str = "",
    page: str = "",
    root: str = "",
    font: str = _FONT,
) -> bytes:
    """Make a PDF of one page; further objects are numbered from 6."""
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
    """Return a form that draws something."""
    return _stream("<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] {} >>", drawing)


def _form(entry: str, *more: str, place: str = _SEEN_AT) -> bytes:
    """Make a PDF with a form of one field; further objects are numbered from 7."""
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
    """Append a page to a PDF, as programs that save changes behind the old file."""
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
    """Make a page whose font maps its letters to others."""
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
    "without ink": partial(_page, f"3 Tr {_LINE}"),
    "only to clip": partial(_page, f"7 Tr {_LINE}"),
    "white on paper": partial(_page, f"1 1 1 rg {_LINE}"),
    "white, by another colour space": partial(_page, f"/DeviceCMYK cs 0 0 0 0 sc {_LINE}"),
    "black on a black bar": partial(_page, f"{_BLACK_BAR} {_LINE}"),
    "under a black bar": partial(_page, f"{_LINE} {_BLACK_BAR}"),
    "tiny": partial(_page, _LINE.replace("12 Tf", "1 Tf")),
    "scaled to be tiny": partial(_page, f".1 0 0 .1 60 700 cm {_LINE}"),
    "off the page": partial(_page, _LINE.replace("720 Td", "820 Td")),
    "left of the page": partial(_page, _LINE.replace("72 720 Td", "-72 720 Td")),
    "moved off the page": partial(_page, f"1 0 0 1 700 0 cm {_LINE}"),
    "outside what is cut out": partial(_page, _LINE, page="/CropBox [0 0 612 400]"),
    "outside what is painted": partial(_page, f"0 0 50 50 re W n {_LINE}"),
    "transparent": partial(_page, f"/G gs {_LINE}", resources=_FAINT),
    "nearly transparent": partial(
        _page, f"/G gs {_LINE}", resources="/ExtGState << /G << /ca 0.01 >> >>"
    ),
    "under a soft mask": partial(_page, f"/G gs {_LINE}", _MASK, resources=_MASKED),
    "narrow": partial(_page, _LINE.replace("72 720", "0.01 Tz 72 720")),
    "narrow by its matrix": partial(_page, "BT /F1 12 Tf .01 0 0 1 72 720 Tm (Invoice 7) Tj ET"),
    "in a colorant of no ink": partial(_page, f"/C cs 1 scn {_LINE}", resources=_NO_COLORANT),
    "in a form that is cut off": partial(
        _page, "/X Do", _SHOWN_FORM.replace("612 792", "1 1"), resources=_PICTURED
    ),
    "under a picture": partial(
        _page, f"{_LINE} q 500 0 0 90 50 700 cm /X Do Q", _IMAGE, resources=_PICTURED
    ),
    "in a layer that is off": partial(
        _page, _IN_LAYER, _LAYER, resources="/Properties << /L 6 0 R >>", root=_OFF
    ),
    "without ink in a form, beside text": partial(
        _page,
        f"{_LINE.replace('Invoice 7', 'x')} /X Do",
        _stream(
            _FORM.format("{} /Resources << " + _FONT + " >>"),
            f"3 Tr {_LINE}".replace("72 720 Td ", ""),
        ),
        resources=_PICTURED,
    ),
    "in a file whose table of places is wrong": partial(_displaced, _LINE),
    "without ink in a form": partial(_page, "/X Do", _HIDDEN_FORM, resources=_PICTURED),
    "a form in a layer that is off": partial(
        _page,
        "/OC /L BDC /X Do EMC",
        _LAYER,
        _SHOWN_FORM,
        resources="/Properties << /L 6 0 R >> /XObject << /X 7 0 R >>",
        root=_OFF,
    ),
    "in a form that is shown too often": partial(
        _page, "/X Do " * 10_001, _SHOWN_FORM, resources=_PICTURED
    ),
    "a form that is moved off the page": partial(
        _page, "1 0 0 1 0 900 cm /X Do", _SHOWN_FORM, resources=_PICTURED
    ),
    "in a note that is hidden": partial(_page, "", _NOTE.format(f"{_NOTE_BOX} /F 2"), page=_NOTES),
    "white, by inks": partial(_page, f"0 0 0 0 k {_LINE}"),
    **{
        f"white on a bar that is not filled, by {name}": partial(
            _page, f"60 710 300 30 re {name} 0 g 0 0 9 9 re f 1 g {_LINE}"
        )
        for name in ("S", "s", "n")
    },
    "in a note that is not to be viewed": partial(
        _page, "", _NOTE.format(f"{_NOTE_BOX} /F 32"), page=_NOTES
    ),
    "in a note of no height": partial(
        _page, "", _NOTE.format("/Rect [72 700 300 700]"), page=_NOTES
    ),
    "in a note of no place": partial(_page, "", _NOTE.format(""), page=_NOTES),
    "in a note of no size": partial(_page, "", _NOTE.format("/Rect [72 700 72 730]"), page=_NOTES),
    "in a comment beside the page": partial(
        _page, "", _NOTE.format(_NOTE_BOX).replace("FreeText", "Text"), page=_NOTES
    ),
    "on white, the page black": partial(
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
    "after a mask": partial(_page, f"q /G gs Q {_LINE}", _MASK, resources=_MASKED),
    "after a mask that ends": partial(
        _page,
        f"/G gs /N gs {_LINE}",
        _MASK,
        resources=_MASKED.replace(">> >> >>", ">> >> /N << /SMask /None >> >>"),
    ),
    "half transparent": partial(_page, f"/G gs {_LINE}", resources=_HALF),
    "condensed": partial(_page, _LINE.replace("72 720", "70 Tz 72 720")),
    "in ink after a colorant of none": partial(
        _page, f"/C cs 1 scn 0 g {_LINE}", resources=_NO_COLORANT
    ),
    "under a picture with holes": partial(
        _page,
        f"{_LINE} q 500 0 0 90 50 700 cm /X Do Q",
        _IMAGE.replace("/BitsPerComponent 8", "/BitsPerComponent 8 /Mask [0 0]"),
        resources=_PICTURED,
    ),
    "marked": partial(_page, f"{_LINE} /G gs 1 1 0 rg 60 710 300 30 re f", resources=_MULTIPLIED),
    "after hidden text": partial(_page, f"q 3 Tr BT (x) Tj ET Q {_LINE}"),
    "large by its matrix": partial(_page, "BT /F1 1 Tf 12 0 0 12 72 720 Tm (Invoice 7) Tj ET"),
    "on its side": partial(_page, "BT /F1 12 Tf 0 1 -1 0 72 300 Tm (Invoice 7) Tj ET"),
    "on a later line": partial(
        _page, "BT /F1 12 Tf 14 TL 72 720 Td (To Ann) Tj T* (Invoice 7) Tj ET"
    ),
    "by the operator for lines": partial(
        _page, "BT /F1 12 Tf 0 -14 TD 72 720 Td (To Ann) Tj (Invoice 7) ' ET"
    ),
    "in kerned pieces": partial(_page, "BT /F1 12 Tf 72 720 Td [(Inv) -20 (oice 7)] TJ ET"),
    "in a layer that is on": partial(
        _page, _IN_LAYER, _LAYER, resources="/Properties << /L 6 0 R >>", root=_ON
    ),
    "in a form": partial(_page, "/X Do", _SHOWN_FORM, resources=_PICTURED),
    "in a form that is shown twice, once off the page": partial(
        _page, "q 1 0 0 1 0 900 cm /X Do Q /X Do", _SHOWN_FORM, resources=_PICTURED
    ),
    **{
        f"white on a black bar, filled by {name}": partial(
            _page, f"0 g 60 710 300 30 re {name} 1 g {_LINE}"
        )
        for name in ("F", "f*", "B", "B*", "b", "b*")
    },
    **{
        f"white on a black shape of curves, by {name}": partial(
            _page, f"0 g 0 700 m {points} {name} h f 1 g {_LINE}"
        )
        for name, points in (
            ("c", "0 900 600 900 600 700"),
            ("v", "600 900 600 700"),
            ("y", "0 900 600 800"),
        )
    },
    **{
        f"under a picture that says {entry}": partial(
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
            ("half transparent", "/G gs"),
            ("slanted", "1 0 .1 1 0 0 cm"),
            ("slanted the other way", "1 .1 0 1 0 0 cm"),
        )
    },
    "in a form that is encoded": partial(
        _page,
        "/X Do",
        _stream(_FORM.format("/Filter /ASCIIHexDecode {}"), _LINE.encode().hex() + ">"),
        resources=_PICTURED,
    ),
    "by the operator for words": partial(
        _page, 'BT /F1 12 Tf 14 TL 72 720 Td 0 0 (Invoice 7) " ET'
    ),
    "in a note on a page with text": partial(
        _page, _LINE.replace("Invoice 7", "x"), _NOTE.format(_NOTE_BOX), page=_NOTES
    ),
    "in a note that would be invisible if its kind were unknown": partial(
        _page, "", _NOTE.format(f"{_NOTE_BOX} /F 1"), page=_NOTES
    ),
    "in a note behind another": partial(
        _page,
        "",
        _NOTE.format(_NOTE_BOX).replace("7", "8"),
        _NOTE.format(_NOTE_BOX),
        page="/Annots [6 0 R 7 0 R]",
    ),
    "in a note on the page": partial(_page, "", _NOTE.format(_NOTE_BOX), page=_NOTES),
    "opened with no password": partial(_restricted, ["Invoice 7 of May"]),
}
