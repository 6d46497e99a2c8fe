"""Pages whose operators hide *Invoice 7*, and honest pages that use the same operators."""

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
_FORM, _IMAGE, _PICTURED = pdf_ways._FORM, pdf_ways._IMAGE, pdf_ways._PICTURED
_HALF, _FAINT = pdf_ways._HALF, pdf_ways._FAINT
_FONT = "BT /F1 12 Tf"
_SHOW = "(Invoice 7) Tj ET"
_PLACED = "/F1 1 Tf {} 72 720 Tm (Invoice 7) Tj ET"
_WHITE = f"1 g {_LINE}"
_FUNCTION = "<< /FunctionType 2 /Domain [0 1] /C0 [1] /C1 [0] /N 1 >>"
_INK = f"/ColorSpace << /C [/Separation /{{}} /DeviceGray {_FUNCTION}] >>"
_DIAMOND = "q 100 100 -100 100 160 620 cm /X Do Q 1 g BT /F1 12 Tf {} Td (Invoice 7) Tj ET"
_IN_OFF = {"resources": "/Properties << /L 6 0 R >>", "root": pdf_ways._OFF}
_OFF_LAYER = pdf_ways._LAYER


def cases(args: Mapping[str, Any]) -> tuple[Case, ...]:
    """Return cases of a page that reads *Invoice 7*."""
    return (
        *(
            forged(name, at(args["path"], make), **args)
            for name, make in {**_HIDDEN, **_HIDDEN_GROUPS}.items()
        ),
        *(
            another_way(name, at(args["path"], make), **args)
            for name, make in {**_SEEN, **_SEEN_GROUPS}.items()
        ),
    )


_GROUP = "/Group << /S /Transparency >>"
_STATE = "/ExtGState << /G << {} >> >>"
_OUTER = "/ExtGState << /O << {} >> >>"


def _grouped(outer: str, inner: str, group: str = _GROUP, after: str = "", **more: Any) -> Any:
    """Return what makes a page that shows a form in one state, with the line in another one in it."""
    own = f"/Resources << {pdf_ways._FONT} {_STATE.format(inner)} >>"
    form = _stream(pdf_ways._FORM.format(f"{{}} {group} {own}"), f"/G gs {_LINE}")
    resources = f"{_PICTURED} {_OUTER.format(outer)}"
    return partial(_page, f"q /O gs /X Do Q {after}", form, resources=resources, **more)


_SOFT = "/SMask << /S /Luminosity /G 6 0 R >>"
_HIDDEN_GROUPS = {
    "opaque in a transparent group": _grouped("/ca 0", "/ca 1"),
    "opaque in a group as faint as cannot be seen": _grouped("/ca 0.09", "/ca 1"),
    "faint in a faint group": _grouped("/ca 0.3", "/ca 0.3"),
    "without a mask in a masked group": _grouped(_SOFT, "/SMask /None"),
    "in a group of a mode that only lightens": _grouped("/BM /Screen", "/BM /Normal"),
    "in a mode that only lightens": partial(
        _page, f"/G gs {_LINE}", resources=_STATE.format("/BM /Screen")
    ),
    "in such a mode, and another state": partial(
        _page,
        f"/G gs /H gs {_LINE}",
        resources="/ExtGState << /G << /BM /Screen >> /H << /ca 1 >> >>",
    ),
    "in modes of which the first one only lightens": partial(
        _page, f"/G gs {_LINE}", resources=_STATE.format("/BM [/Lighten /Normal]")
    ),
    "opaque in a form of a layer that is off": partial(
        _page,
        "/OC /L BDC /X Do EMC",
        pdf_ways._LAYER,
        _stream(
            pdf_ways._FORM.format(
                f"{{}} /Resources << {pdf_ways._FONT} {_STATE.format('/ca 1')} >>"
            ),
            f"/G gs {_LINE}",
        ),
        resources="/Properties << /L 6 0 R >> /XObject << /X 7 0 R >>",
        root=pdf_ways._OFF,
    ),
}
_SEEN_GROUPS = {
    "opaque in a form of no group": _grouped("/ca 0", "/ca 1", group=""),
    "half transparent in such a group": _grouped("/ca 0.5", "/ca 0.5"),
    "in a group of a mode that only darkens": _grouped("/BM /Multiply", "/BM /Normal"),
    "in a mode that only darkens": partial(
        _page, f"/G gs {_LINE}", resources=_STATE.format("/BM [/Darken /Normal]")
    ),
    "behind a transparent group": _grouped("/ca 0", "/ca 1", after=_LINE),
}
_HIDDEN_TEXT = {
    "without ink, in kerned pieces": f"3 Tr {_FONT} 72 720 Td [(Inv) -20 (oice 7)] TJ ET",
    "without ink, by the operator for lines": f"3 Tr {_FONT} 72 720 Td (Invoice 7) ' ET",
    "without ink, by the operator for words": f'3 Tr {_FONT} 72 720 Td 0 0 (Invoice 7) " ET',
    "on a line below the page": f"{_FONT} 800 TL 72 720 Td T* {_SHOW}",
    "below the page, by the operator for lines": f"{_FONT} 800 TL 72 720 Td (Invoice 7) ' ET",
    "below the page, by the operator for words": f'{_FONT} 800 TL 72 720 Td 0 0 (Invoice 7) " ET',
    "off the page, with a leading": f"{_FONT} 72 820 TD {_SHOW}",
    "lines below the page": f"{_FONT} 72 900 Td 0 -200 TD T* T* T* T* {_SHOW}",
    "narrow, placed often": f"{_FONT} 5 Tz 72 720 Td {'0 0 Td ' * 40}{_SHOW}",
    "low, placed often": f"BT /F1 1 Tf 1200 Tz 72 720 Td {'0 0 Td ' * 40}{_SHOW}",
    "low by its matrix": f"BT {_PLACED.format('12 0 0 1.7')}",
    "narrow by a matrix that enlarges": f"BT {_PLACED.format('1.7 0 0 12')}",
    "narrow and slanted": f"BT {_PLACED.format('1.7 0 12 12')}",
    "narrow, on its side": f"BT {_PLACED.format('0 1.7 -12 0')}",
    "narrow, turned twice": ".5 .5 -.5 .5 300 300 cm BT /F1 1 Tf 1.7 1.7 -12 12 100 100 Tm "
    f"{_SHOW}",
    "as pale as cannot be seen": f".9059 g {_LINE}",
    "whiter than white": f"2 2 2 rg {_LINE}",
    "white, by components": f"/DeviceRGB cs 1 1 1 scn {_LINE}",
    "black by a colour space, on a black bar": f"{_BAR} 1 g /DeviceGray cs {_LINE}",
    "black by inks, on a black bar": f"{_BAR} 0 0 0 1 k {_LINE}",
    "black of three inks, on a black bar": f"{_BAR} 1 1 1 0 k {_LINE}",
    "white, beside a curve": f"0 g 0 0 m 50 600 50 600 v f {_WHITE}",
    "white, left of a black bar": f"0 g 100 700 60 40 re f {_WHITE}",
    "white, below a black bar": f"0 g 60 730 100 30 re f {_WHITE}",
    "on the first of two black bars": f"0 g 60 710 300 30 re 0 0 9 9 re f {_LINE}",
    "outside what is painted, by the other rule": f"0 0 50 50 re W* n {_LINE}",
    "left of what is painted": f"100 0 500 792 re W n {_LINE}",
    "right of what is painted": f"0 0 50 792 re W n {_LINE}",
    "below what is painted": f"0 730 612 60 re W n {_LINE}",
    "left of what is painted before": f"100 0 500 792 re W n 0 0 612 792 re W n {_LINE}",
    "right of what is painted before": f"0 0 50 792 re W n 0 0 612 792 re W n {_LINE}",
    "below what is painted before": f"0 730 612 60 re W n 0 0 612 792 re W n {_LINE}",
}
_SEEN_TEXT = {
    "in a second text object": f"{_FONT} 72 600 Td (x) Tj ET BT 72 720 Td {_SHOW}",
    "after many lines": f"{_FONT} 1 TL 560 780 Td {'T* ' * 60}{_SHOW}",
    "as narrow as can be read": "25 Tz BT /F1 8 Tf 72 720 Td (Invoice 7) Tj ET",
    "as low as can be read": "BT /F1 2 Tf 72 720 Td (Invoice 7) Tj ET",
    "as pale as can be seen": f".902 g {_LINE}",
    "after operators that lack numbers": f"5 re 7 l n q 5 cm gs Do Q {_FONT} 72 720 Td 1 2 Tm 5 Td "
    f"{_SHOW}",
    "on a turned page": f"0 1 -1 0 600 0 cm {_FONT} 720 100 Td {_SHOW}",
    "turned twice": ".5 .5 -.5 .5 300 300 cm BT /F1 1 Tf 12 12 -12 12 100 100 Tm (Invoice 7) Tj ET",
    "at the left edge of the page": f"{_FONT} 0 720 Td {_SHOW}",
    "at the lower edge of the page": f"{_FONT} 72 -3 Td {_SHOW}",
    "at the lower edge of what is painted": f"0 720 612 30 re W n {_FONT} 72 717 Td {_SHOW}",
    "black again, by a colour space": f"1 1 1 rg /DeviceGray cs {_LINE}",
    "in two inks, on a black bar": f"{_BAR} /DeviceN cs .5 .5 scn {_LINE}",
    "in a pattern, on a black bar": f"{_BAR} /Pattern cs /P scn {_LINE}",
    "in a pattern, by the older operator": f"{_BAR} /Pattern cs /P sc {_LINE}",
    "beside what is filled": f"0 g 0 0 9 9 re f 0 0 9 9 re f {_LINE}",
    "white on one curve": f"0 g 0 700 m 0 700 0 700 600 800 c f {_WHITE}",
    "white on a turned bar": f"q 0 1 -1 0 700 0 cm 0 g 700 300 60 350 re f Q {_WHITE}",
    "white on a shading": f"q 500 0 0 90 50 700 cm /S sh Q {_WHITE}",
    "white on an inline picture": "q 500 0 0 90 50 700 cm BI /W 1 /H 1 /CS /G /BPC 8 ID 0 EI Q "
    f"{_WHITE}",
    "with an unknown state": f"/G gs {_LINE}",
}
_HIDDEN = {
    **{name: partial(_page, content) for name, content in _HIDDEN_TEXT.items()},
    "without any of an ink": partial(_page, f"/C cs 0 scn {_LINE}", resources=_INK.format("Black")),
    "in white ink": partial(
        _page,
        f"/C cs 1 scn {_LINE}",
        resources=_INK.format("Black").replace("/C1 [0]", "/C1 [1]"),
    ),
    "in white ink, as it is at first": partial(
        _page, f"/C cs {_LINE}", resources=_INK.format("Black").replace("/C1 [0]", "/C1 [1]")
    ),
    "without any of an ink mixed in an unknown way": partial(
        _page,
        f"/C cs 0 scn {_LINE}",
        resources=_INK.format("Black").replace("/FunctionType 2", "/FunctionType 4"),
    ),
    "in a layer that is off as all are": partial(
        _page,
        pdf_ways._IN_LAYER,
        _OFF_LAYER,
        resources="/Properties << /L 6 0 R >>",
        root="/OCProperties << /OCGs [6 0 R] /D << /BaseState /OFF >> >>",
    ),
    "in a colorant of no ink, half of it": partial(
        _page, f"/C cs .5 scn {_LINE}", resources=_INK.format("None")
    ),
    "as faint as cannot be seen": partial(
        _page, f"/G gs {_LINE}", resources="/ExtGState << /G << /ca 0.09411764705882353 >> >>"
    ),
    "white on a transparent bar": partial(_page, f"q /G gs {_BAR} Q {_WHITE}", resources=_FAINT),
    "under a bar, in a state that is no other": partial(
        _page, f"/G gs {_LINE} {_BAR}", resources="/ExtGState << /G << /ca 1 >> >>"
    ),
    "in a layer that is off, after marks": partial(
        _page, f"/OC /L BDC /Span BMC EMC {_LINE} EMC", _OFF_LAYER, **_IN_OFF
    ),
    "in a form whose matrix moves it off the page": partial(
        _page,
        "/X Do",
        _stream(_FORM.format("/Matrix [1 0 0 1 0 900] {}"), _LINE),
        resources=_PICTURED,
    ),
    "white, right of a picture": partial(
        _page, f"q 60 0 0 90 0 700 cm /X Do Q {_WHITE}", _IMAGE, resources=_PICTURED
    ),
    "white, above a picture": partial(
        _page, f"q 500 0 0 90 50 630 cm /X Do Q {_WHITE}", _IMAGE, resources=_PICTURED
    ),
}
_SEEN = {
    **{name: partial(_page, content) for name, content in _SEEN_TEXT.items()},
    "in a layer that is on, as the others are not": partial(
        _page,
        pdf_ways._IN_LAYER,
        _OFF_LAYER,
        resources="/Properties << /L 6 0 R >>",
        root="/OCProperties << /OCGs [6 0 R] /D << /BaseState /OFF /ON [6 0 R] >> >>",
    ),
    **{
        f"in black ink, {name}": partial(_page, content, resources=_INK.format("Black"))
        for name, content in {
            "all of it": f"/C cs 1 scn {_LINE}",
            "half of it": f"/C cs .5 scn {_LINE}",
            "as it is at first": f"/C cs {_LINE}",
            "after which it is black": f"/C cs 0 scn 0 g {_LINE}",
        }.items()
    },
    "in two inks, one of them": partial(
        _page,
        f"/C cs 0 1 scn {_LINE}",
        resources="/ColorSpace << /C [/DeviceN [/Red /Blue] /DeviceCMYK << /FunctionType 4 >>] >>",
    ),
    "after a layer that is off": partial(
        _page, f"/OC /L BDC BT (x) Tj ET EMC {_LINE}", _OFF_LAYER, **_IN_OFF
    ),
    "after an empty layer that is off": partial(
        _page, f"/OC /L BDC EMC {_LINE}", _OFF_LAYER, **_IN_OFF
    ),
    "in a span that names a layer": partial(
        _page, f"/Span /L BDC {_LINE} EMC", _OFF_LAYER, **_IN_OFF
    ),
    "under a picture that is half transparent": partial(
        _page,
        f"{_LINE} q /G gs 500 0 0 90 50 700 cm /X Do Q",
        _IMAGE,
        resources=f"{_PICTURED} {_HALF}",
    ),
    **{
        f"beside a picture that is slanted {name}": partial(
            _page, f"{_LINE} q {matrix} cm /X Do Q", _IMAGE, resources=_PICTURED
        )
        for name, matrix in (
            ("to the right", "100 0 300 300 60 600"),
            ("upwards", "300 300 0 100 60 500"),
        )
    },
    **{
        f"white on the {name} of a turned picture": partial(
            _page, _DIAMOND.format(place), _IMAGE, resources=_PICTURED
        )
        for name, place in (("left", "100 717"), ("foot", "135 650"), ("right", "200 717"))
    },
}
