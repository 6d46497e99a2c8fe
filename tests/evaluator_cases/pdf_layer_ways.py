"""Pages whose layers and annotations hide *Invoice 7*, and legitimate pages that use them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from evaluators.testing.case import another_way, forged
from tests.evaluator_cases import pdf_ways
from tests.evaluator_cases.document_cases import at

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluators.testing.case import Case

_page, _stream = pdf_ways._page, pdf_ways._stream
_LINE, _BAR = pdf_ways._LINE, pdf_ways._BLACK_BAR
_FORM, _IMAGE = pdf_ways._FORM, pdf_ways._IMAGE
_OFF_LAYER = pdf_ways._LAYER
_WHITE = f"1 g {_LINE}"


def cases(args: Mapping[str, Any]) -> tuple[Case, ...]:
    """Return cases of a page that reads *Invoice 7*."""
    hidden, seen = {**_HIDDEN_LAYERS, **_HIDDEN_NOTES}, {**_SEEN_LAYERS, **_SEEN_NOTES}
    return (
        *(forged(name, at(args["path"], make), **args) for name, make in hidden.items()),
        *(another_way(name, at(args["path"], make), **args) for name, make in seen.items()),
    )


_BOTH = "/OCProperties << /OCGs [6 0 R 7 0 R] /D << /OFF [6 0 R] >> >>"
_MEMBERS = "<< /Type /OCMD {} >>"


def _layered(
    members: str, content: str = pdf_ways._IN_LAYER, place: str = "8 0 R", *more: str
) -> Any:
    """Return a function that creates a page with a membership dictionary; layer 6 is off, layer 7 on."""
    return partial(
        _page,
        content,
        _OFF_LAYER,
        _OFF_LAYER,
        _MEMBERS.format(members),
        *more,
        resources=f"/Properties << /L {place} >>",
        root=_BOTH,
    )


_BAR_OFF = f"/OC /L BDC {_BAR} EMC"
_OFF_FORM = _stream(_FORM.format("{} /OC 6 0 R"), _LINE)
_OFF_IMAGE = _IMAGE.replace("/BitsPerComponent 8", "/BitsPerComponent 8 /OC 6 0 R")
_IN_OFF_FORM = {"resources": "/XObject << /X 7 0 R >>", "root": pdf_ways._OFF}
_HIDDEN_LAYERS = {
    **{
        f"in hidden layers: {members}": _layered(members)
        for members in (
            "/OCGs 6 0 R",
            "/OCGs [6 0 R 6 0 R]",
            "/OCGs [7 0 R 6 0 R] /P /AllOn",
            "/OCGs [7 0 R 6 0 R] /P /AllOff",
            "/OCGs 7 0 R /P /AnyOff",
            "/OCGs [7 0 R 7 0 R] /P /AnyOff",
            "/VE [/And 7 0 R 6 0 R]",
            "/VE [/Not 7 0 R]",
            "/VE [/Or 6 0 R [/Not 7 0 R]]",
            "/VE [/Not 7 0 R] /OCGs 7 0 R",
        )
    },
    "in hidden layers, inline dictionary": _layered("", place="<< /Type /OCMD /OCGs 6 0 R >>"),
    "in hidden layers, indirect list": _layered(
        "/OCGs 9 0 R", pdf_ways._IN_LAYER, "8 0 R", "[6 0 R]"
    ),
    "white on a bar of a hidden layer": _layered("/OCGs 6 0 R", f"{_BAR_OFF} {_WHITE}"),
    "in a form of a hidden layer": partial(_page, "/X Do", _OFF_LAYER, _OFF_FORM, **_IN_OFF_FORM),
    "white on a picture of a hidden layer": partial(
        _page,
        f"q 500 0 0 90 50 700 cm /X Do Q {_WHITE}",
        _OFF_LAYER,
        _OFF_IMAGE,
        **_IN_OFF_FORM,
    ),
}
_SEEN_LAYERS = {
    **{
        f"in visible layers: {members}": _layered(members)
        for members in (
            "/OCGs 7 0 R",
            "/OCGs [6 0 R 7 0 R]",
            "/OCGs [6 0 R 7 0 R] /P /AnyOff",
            "/OCGs [6 0 R 6 0 R] /P /AllOff",
            "/OCGs [7 0 R 7 0 R] /P /AllOn",
            "/OCGs []",
            "/P /AllOn",
            "/VE [/Or 6 0 R 7 0 R]",
            "/VE [/And 7 0 R [/Not 6 0 R]]",
            "/VE [/Not 6 0 R] /OCGs 6 0 R",
        )
    },
    "in visible layers, indirect list": _layered(
        "/OCGs 9 0 R", pdf_ways._IN_LAYER, "8 0 R", "[7 0 R]"
    ),
    "under a bar of a hidden layer": _layered("/OCGs 6 0 R", f"{_LINE} {_BAR_OFF}"),
    "in a form of a visible layer": partial(
        _page,
        "/X Do",
        _OFF_LAYER,
        _OFF_FORM,
        resources=_IN_OFF_FORM["resources"],
        root=pdf_ways._ON,
    ),
    "under a picture of a hidden layer": partial(
        _page,
        f"{_LINE} q 500 0 0 90 50 700 cm /X Do Q",
        _OFF_LAYER,
        _OFF_IMAGE,
        **_IN_OFF_FORM,
    ),
}
_LOOK = f"/Resources << {pdf_ways._FONT} >>"
_IN_NOTE = "BT /F1 12 Tf 5 10 Td ({}) Tj ET"


def _noted(
    entries: str, *more: str, text: str = "Invoice 7", content: str = "", **page: str
) -> Any:
    """Return a function that creates a page with an annotation; additional objects are numbered from 7."""
    note = f"<< /Type /Annot /Subtype /FreeText /Contents ({text}) {entries} >>"
    return partial(_page, content, note, *more, page=pdf_ways._NOTES, **page)


def _appearing(
    content: str, entries: str = "/BBox [0 0 228 30]", text: str = "", rect: str = ""
) -> Any:
    """Return a function that creates a page with an annotation that has an appearance stream."""
    form = _stream(f"<< /Type /XObject /Subtype /Form {entries} {_LOOK} {{}} >>", content)
    return _noted(f"{rect or pdf_ways._NOTE_BOX} /AP << /N 7 0 R >>", form, text=text)


_BOXED = pdf_ways._NOTE_BOX
_HIDDEN_NOTES = {
    "in an annotation with an empty appearance": _appearing("", text="Invoice 7"),
    "in an annotation with a different text in its appearance": _appearing(
        _IN_NOTE.format("x"), text="Invoice 7"
    ),
    "in an appearance, invisible text mode": _appearing(f"3 Tr {_IN_NOTE.format('Invoice 7')}"),
    "in an appearance, scaled down": _appearing(
        _IN_NOTE.format("Invoice 7"), "/BBox [0 0 2280 300]"
    ),
    "in an appearance, reduced height": _appearing(
        _IN_NOTE.format("Invoice 7"), "/BBox [0 0 228 300]"
    ),
    "in an appearance, reduced width": _appearing(
        "BT /F1 12 Tf 5 1010 Td (Invoice 7) Tj ET", "/BBox [0 1000 2000 1030]"
    ),
    "in an appearance, outside its bounding box": _appearing(
        _IN_NOTE.format("Invoice 7"), "/BBox [0 100 228 130]"
    ),
    "in an appearance above the page": _appearing(
        _IN_NOTE.format("Invoice 7"), rect="/Rect [72 800 300 830]"
    ),
    "in an appearance left of the page": _appearing(
        _IN_NOTE.format("Invoice 7"), rect="/Rect [-300 700 -72 730]"
    ),
    "in a transparent annotation": _noted(f"{_BOXED} /CA 0"),
    "in an annotation, white": _noted(f"{_BOXED} /DA (1 g /F 12 Tf)"),
    "in an annotation, in its background colour": _noted(
        f"{_BOXED} /DA (0 0 1 rg /F 12 Tf) /C [0 0 1]"
    ),
    "in an annotation, white on white": _noted(f"{_BOXED} /DA (1 g) /C [1]"),
    "in an annotation, white on white in CMYK": _noted(f"{_BOXED} /DA (1 g) /C [0 0 0 0]"),
    "in an annotation, tiny": _noted(f"{_BOXED} /DA (0 g /F 1 Tf)"),
    "in an annotation, 0.5 pt": _noted(f"{_BOXED} /DA (/F 0.5 Tf)"),
    "in an annotation above the page": _noted("/Rect [72 800 300 830]"),
    "in an annotation right of the page": _noted("/Rect [620 700 700 730]"),
    "in an annotation of a hidden layer": _noted(
        f"{_BOXED} /OC 7 0 R",
        _OFF_LAYER,
        root="/OCProperties << /OCGs [7 0 R] /D << /OFF [7 0 R] >> >>",
    ),
    "in an annotation 1.9 pt high": _noted("/Rect [72 700 300 701.9]"),
    "in an annotation 1.9 pt wide": _noted("/Rect [72 700 73.9 730]"),
}
_SEEN_NOTES = {
    "in an appearance": _appearing(_IN_NOTE.format("Invoice 7")),
    "in an enlarged appearance": _appearing(
        "BT /F1 1 Tf 1 1 Td (Invoice 7) Tj ET", "/BBox [0 0 22 3]"
    ),
    "in an appearance with a different origin": _appearing(
        "BT /F1 12 Tf 905 910 Td (Invoice 7) Tj ET", "/BBox [900 900 1128 930]"
    ),
    "in an enlarged appearance with a different origin": _appearing(
        "BT /F1 12 Tf 2005 3005 Td (Invoice 7) Tj ET", "/BBox [2000 3000 2114 3015]"
    ),
    **{
        f"{name} a black annotation": _noted(
            f"{_BOXED} /C [0]", text="x", content=f"BT /F1 12 Tf {place} Td (Invoice 7) Tj ET"
        )
        for name, place in (("right of", "350 715"), ("above", "100 760"))
    },
    "in an appearance moved by a matrix": _appearing(
        _IN_NOTE.format("Invoice 7"), "/BBox [0 0 228 30] /Matrix [1 0 0 1 900 900]"
    ),
    "in an appearance with swapped corners": _appearing(
        _IN_NOTE.format("Invoice 7"), rect="/Rect [300 730 72 700]"
    ),
    "in an annotation with swapped corners": _noted("/Rect [300 730 72 700]"),
    "in an annotation after a hidden one": partial(
        _page,
        "",
        pdf_ways._NOTE.format(f"{_BOXED} /F 2").replace("7", "8"),
        pdf_ways._NOTE.format(_BOXED),
        page="/Annots [6 0 R 7 0 R]",
    ),
    "in a black annotation, white": _noted(f"{_BOXED} /DA (1 g /F 12 Tf) /C [0]"),
    "in a black annotation in CMYK, white": _noted(f"{_BOXED} /DA (1 g) /C [0 0 0 1]"),
    "in a blue annotation, white": _noted(f"{_BOXED} /DA (1 g) /C [0 0 1]"),
    "in an annotation without a colour": _noted(f"{_BOXED} /C []"),
    "in an annotation on a black bar, white": _noted(f"{_BOXED} /DA (1 g)", content=_BAR),
    "in an annotation with automatic font size": _noted(f"{_BOXED} /DA (/F 0 Tf 0 g)"),
    "in an annotation with automatic font size, with decimals": _noted(
        f"{_BOXED} /DA (/F 0.00 Tf 0 g)"
    ),
    "in a semi-transparent annotation": _noted(f"{_BOXED} /CA .5"),
    "in an annotation 2 pt high": _noted("/Rect [72 700 300 702]"),
    "in an annotation 2 pt wide": _noted("/Rect [72 700 74 730]"),
    "in an annotation in the left corner of the page": _noted("/Rect [0 760 300 790]"),
    "in an annotation on the right edge of the page": _noted("/Rect [600 700 700 730]"),
}
