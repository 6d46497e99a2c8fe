"""Pages whose operators hide *Invoice 7*, and legitimate pages that use the same operators."""

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
_WHOLE = "0 0 612 792 re"
_BOX = "60 710 300 30 re"
_INLINE = "q 500 0 0 90 50 700 cm BI /W 1 /H 1 /BPC 8 {} ID 0 EI Q"
_IN_OFF = {"resources": "/Properties << /L 6 0 R >>", "root": pdf_ways._OFF}
_OFF_LAYER = pdf_ways._LAYER


def cases(args: Mapping[str, Any]) -> tuple[Case, ...]:
    """Return cases of a page that reads *Invoice 7*."""
    return (
        *(
            forged(name, at(args["path"], make), **args)
            for name, make in {
                **_HIDDEN,
                **_HIDDEN_GROUPS,
                **_HIDDEN_COLOURS,
            }.items()
        ),
        *(
            another_way(name, at(args["path"], make), **args)
            for name, make in {
                **_SEEN,
                **_SEEN_GROUPS,
                **_SEEN_COLOURS,
            }.items()
        ),
    )


_GROUP = "/Group << /S /Transparency >>"
_STATE = "/ExtGState << /G << {} >> >>"
_OUTER = "/ExtGState << /O << {} >> >>"


def _grouped(outer: str, inner: str, group: str = _GROUP, after: str = "", **more: Any) -> Any:
    """Return a function that creates a page with a form in one graphics state and its line in a nested one."""
    own = f"/Resources << {pdf_ways._FONT} {_STATE.format(inner)} >>"
    form = _stream(pdf_ways._FORM.format(f"{{}} {group} {own}"), f"/G gs {_LINE}")
    resources = f"{_PICTURED} {_OUTER.format(outer)}"
    return partial(_page, f"q /O gs /X Do Q {after}", form, resources=resources, **more)


def _painting(
    content: str, outer: str, *more: str, before: str = _LINE, resources: str = ""
) -> Any:
    """Return a function that creates a page with a line and then a group in a graphics state; additional objects from 7."""
    own = f"/Resources << {pdf_ways._FONT} {resources} >>"
    form = _stream(_FORM.format(f"{{}} {_GROUP} {own}"), content)
    both = f"{_PICTURED} {_OUTER.format(outer)}"
    return partial(_page, f"{before} q /O gs /X Do Q", form, *more, resources=both)


_SOFT = "/SMask << /S /Luminosity /G 6 0 R >>"
_HIDDEN_GROUPS = {
    "opaque in a transparent group": _grouped("/ca 0", "/ca 1"),
    "opaque in a barely visible group": _grouped("/ca 0.09", "/ca 1"),
    "faint in a faint group": _grouped("/ca 0.3", "/ca 0.3"),
    "without a mask in a masked group": _grouped(_SOFT, "/SMask /None"),
    "in a group with a lightening blend mode": _grouped("/BM /Screen", "/BM /Normal"),
    "in a lightening blend mode": partial(
        _page, f"/G gs {_LINE}", resources=_STATE.format("/BM /Screen")
    ),
    "in a lightening blend mode, and a second graphics state": partial(
        _page,
        f"/G gs /H gs {_LINE}",
        resources="/ExtGState << /G << /BM /Screen >> /H << /ca 1 >> >>",
    ),
    "in a list of blend modes that starts with a lightening one": partial(
        _page, f"/G gs {_LINE}", resources=_STATE.format("/BM [/Lighten /Normal]")
    ),
    "under a bar in a group": _painting(_BAR, "/ca 1"),
    "under a bar, in the normal blend mode": partial(
        _page, f"{_LINE} /G gs {_BAR}", resources=_STATE.format("/BM /Normal")
    ),
    "under a bar, with an empty list of blend modes": partial(
        _page, f"{_LINE} /G gs {_BAR}", resources=_STATE.format("/BM []")
    ),
    "opaque in a form of a hidden layer": partial(
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
    "opaque in a form without a group": _grouped("/ca 0", "/ca 1", group=""),
    "semi-transparent in a semi-transparent group": _grouped("/ca 0.5", "/ca 0.5"),
    "in a group with a darkening blend mode": _grouped("/BM /Multiply", "/BM /Normal"),
    "in a darkening blend mode": partial(
        _page, f"/G gs {_LINE}", resources=_STATE.format("/BM [/Darken /Normal]")
    ),
    **{
        f"in the blend mode {mode}": partial(
            _page, f"/G gs {_LINE}", resources=_STATE.format(f"/BM /{mode}")
        )
        for mode in ("Compatible", "ColorBurn")
    },
    "black with wide white outlines, in a semi-transparent group": _painting(
        f"1 G 9 w 2 Tr {_LINE}", "/ca .5", before=""
    ),
    "under a bar in a semi-transparent group": _painting(_BAR, "/ca .5"),
    "under a bar in a group within a darkening one": _painting(
        "/Y Do",
        "/BM /Multiply",
        _stream(_FORM.format(f"{{}} {_GROUP}"), _BAR),
        resources="/XObject << /Y 7 0 R >>",
    ),
    "after a transparent group": _grouped("/ca 0", "/ca 1", after=_LINE),
}
_HIDDEN_TEXT = {
    "invisible text mode, with kerning": f"3 Tr {_FONT} 72 720 Td [(Inv) -20 (oice 7)] TJ ET",
    "invisible text mode, with the operator for a new line": f"3 Tr {_FONT} 72 720 Td (Invoice 7) ' ET",
    "invisible text mode, with the operator for a new line and word spacing": f'3 Tr {_FONT} 72 720 Td 0 0 (Invoice 7) " ET',
    "on a line below the page": f"{_FONT} 800 TL 72 720 Td T* {_SHOW}",
    "below the page, with the operator for a new line": f"{_FONT} 800 TL 72 720 Td (Invoice 7) ' ET",
    "below the page, with the operator for a new line and word spacing": f'{_FONT} 800 TL 72 720 Td 0 0 (Invoice 7) " ET',
    "off the page, with a leading": f"{_FONT} 72 820 TD {_SHOW}",
    "lines below the page": f"{_FONT} 72 900 Td 0 -200 TD T* T* T* T* {_SHOW}",
    "narrow, positioned repeatedly": f"{_FONT} 5 Tz 72 720 Td {'0 0 Td ' * 40}{_SHOW}",
    "flat, positioned repeatedly": f"BT /F1 1 Tf 1200 Tz 72 720 Td {'0 0 Td ' * 40}{_SHOW}",
    "flat text matrix": f"BT {_PLACED.format('12 0 0 1.7')}",
    "narrow text matrix that enlarges": f"BT {_PLACED.format('1.7 0 0 12')}",
    "narrow and slanted": f"BT {_PLACED.format('1.7 0 12 12')}",
    "narrow and rotated by 90 degrees": f"BT {_PLACED.format('0 1.7 -12 0')}",
    "slanted until flat": "BT /F1 1 Tf 12 0 12 1.9 72 720 Tm (Invoice 7) Tj ET",
    "narrow and rotated twice": ".5 .5 -.5 .5 300 300 cm BT /F1 1 Tf 1.7 1.7 -12 12 100 100 Tm "
    f"{_SHOW}",
    "too pale to be visible": f".9059 g {_LINE}",
    "white with components above 1": f"2 2 2 rg {_LINE}",
    "white from RGB components": f"/DeviceRGB cs 1 1 1 scn {_LINE}",
    "black from a colour space, on a black bar": f"{_BAR} 1 g /DeviceGray cs {_LINE}",
    "black in CMYK, on a black bar": f"{_BAR} 0 0 0 1 k {_LINE}",
    "black from three CMYK inks, on a black bar": f"{_BAR} 1 1 1 0 k {_LINE}",
    "white next to a curve": f"0 g 0 0 m 50 600 50 600 v f {_WHITE}",
    "white, left of a black bar": f"0 g 100 700 60 40 re f {_WHITE}",
    "white, below a black bar": f"0 g 60 730 100 30 re f {_WHITE}",
    "on the first of two black bars": f"0 g 60 710 300 30 re 0 0 9 9 re f {_LINE}",
    "outside the clipping path, even-odd rule": f"0 0 50 50 re W* n {_LINE}",
    "in a doubly covered area of the clipping path, even-odd rule": f"{_WHOLE} {_WHOLE} W* n {_LINE}",
    "in a hole of the clipping path": f"{_WHOLE} 60 700 400 60 re W* n {_LINE}",
    "in a hole of the clipping path, and in a later clipping path": f"{_WHOLE} 60 700 400 60 re W* n {_WHOLE} W* n {_LINE}",
    "white on a doubly covered bar, even-odd rule": f"0 g {_BOX} {_BOX} f* {_WHITE}",
    "white, in a black frame": f"0 g 60 700 400 50 re 62 702 396 46 re f* {_WHITE}",
    "white on a clipped bar": f"q {_WHOLE} 60 700 400 60 re W* n {_BAR} Q {_WHITE}",
    "under an inline picture": f"{_LINE} {_INLINE.format('/CS /G')}",
    "under an inline picture that is not a mask": f"{_LINE} {_INLINE.format('/CS /G /IM false')}",
    "in white outlines": f"1 G 1 Tr {_LINE}",
    "in white outlines that clip": f"1 G 5 Tr {_LINE}",
    "in white outlines from RGB components": f"1 1 1 RG 1 Tr {_LINE}",
    "in white outlines in CMYK": f"0 0 0 0 K 1 Tr {_LINE}",
    "in white outlines from a colour space": f"/DeviceCMYK CS 0 0 0 0 SC 1 Tr {_LINE}",
    "in white outlines from a colour space, with the newer operator": f"/DeviceRGB CS 1 1 1 SCN 1 Tr {_LINE}",
    "white with white outlines": f"1 G 1 g 2 Tr {_LINE}",
    "white with white outlines that clip": f"1 G 1 g 6 Tr {_LINE}",
    "white without outlines, to clip": f"1 g 4 Tr {_LINE}",
    "in white outlines as wide as a letter stem": "1 G 2 Tr BT /F1 10 Tf 72 720 Td (Invoice 7) Tj ET",
    "black with wide white outlines": f"1 G 1.3 w 2 Tr {_LINE}",
    "in white outlines widened by a matrix": "1 G .13 w 2 Tr 10 0 0 10 0 0 cm "
    "BT /F1 1.2 Tf 7.2 72 Td (Invoice 7) Tj ET",
    "left of the clipping path": f"100 0 500 792 re W n {_LINE}",
    "right of the clipping path": f"0 0 50 792 re W n {_LINE}",
    "below the clipping path": f"0 730 612 60 re W n {_LINE}",
    "left of an earlier clipping path": f"100 0 500 792 re W n 0 0 612 792 re W n {_LINE}",
    "right of an earlier clipping path": f"0 0 50 792 re W n 0 0 612 792 re W n {_LINE}",
    "below an earlier clipping path": f"0 730 612 60 re W n 0 0 612 792 re W n {_LINE}",
}
_SEEN_TEXT = {
    "in a second text object": f"{_FONT} 72 600 Td (x) Tj ET BT 72 720 Td {_SHOW}",
    "after many lines": f"{_FONT} 1 TL 560 780 Td {'T* ' * 60}{_SHOW}",
    "just wide enough to be readable": "25 Tz BT /F1 8 Tf 72 720 Td (Invoice 7) Tj ET",
    "just high enough to be readable": "BT /F1 2 Tf 72 720 Td (Invoice 7) Tj ET",
    "just dark enough to be visible": f".902 g {_LINE}",
    "after operators without operands": f"5 re 7 l n q 5 cm gs Do Q {_FONT} 72 720 Td 1 2 Tm 5 Td "
    f"{_SHOW}",
    "on a rotated page": f"0 1 -1 0 600 0 cm {_FONT} 720 100 Td {_SHOW}",
    "slanted": "BT /F1 1 Tf 12 0 12 2.9 72 720 Tm (Invoice 7) Tj ET",
    "rotated twice": ".5 .5 -.5 .5 300 300 cm BT /F1 1 Tf 12 12 -12 12 100 100 Tm (Invoice 7) Tj ET",
    "at the left edge of the page": f"{_FONT} 0 720 Td {_SHOW}",
    "at the lower edge of the page": f"{_FONT} 72 -3 Td {_SHOW}",
    "at the lower edge of the clipping path": f"0 720 612 30 re W n {_FONT} 72 717 Td {_SHOW}",
    "black again from a colour space": f"1 1 1 rg /DeviceGray cs {_LINE}",
    "in two inks, on a black bar": f"{_BAR} /DeviceN cs .5 .5 scn {_LINE}",
    "in a pattern, on a black bar": f"{_BAR} /Pattern cs /P scn {_LINE}",
    "in a pattern, with the older operator": f"{_BAR} /Pattern cs /P sc {_LINE}",
    "next to a filled area": f"0 g 0 0 9 9 re f 0 0 9 9 re f {_LINE}",
    "white on one curve": f"0 g 0 700 m 0 700 0 700 600 800 c f {_WHITE}",
    "white on a rotated bar": f"q 0 1 -1 0 700 0 cm 0 g 700 300 60 350 re f Q {_WHITE}",
    "white on a shading": f"q 500 0 0 90 50 700 cm /S sh Q {_WHITE}",
    "white on an inline picture": "q 500 0 0 90 50 700 cm BI /W 1 /H 1 /CS /G /BPC 8 ID 0 EI Q "
    f"{_WHITE}",
    "with an unknown graphics state": f"/G gs {_LINE}",
    "in a doubly covered area of the clipping path, nonzero rule": f"{_WHOLE} {_WHOLE} W n {_LINE}",
    "next to a hole of the clipping path": f"{_WHOLE} 60 600 400 60 re W* n {_LINE}",
    "on an island in a hole of the clipping path": f"{_WHOLE} 60 700 400 60 re 62 702 396 56 re W* n {_LINE}",
    "after a clipping path with a hole": f"q {_WHOLE} 60 700 400 60 re W* n Q {_LINE}",
    "in a hole of an arbitrary clipping path": f"{_WHOLE} 60 700 m 400 700 l 400 800 l W* n {_LINE}",
    "white on a black frame": f"0 g 60 700 400 50 re 62 702 396 4 re f* {_WHITE}",
    "white on a doubly covered bar, nonzero rule": f"0 g {_BOX} {_BOX} f {_WHITE}",
    "under a clipped bar": f"{_LINE} {_WHOLE} 60 700 400 60 re W* n {_BAR}",
    "under an inline mask": f"{_LINE} {_INLINE.format('/IM true')}",
    "under an inline mask, with the full key": f"{_LINE} {_INLINE.format('/ImageMask true')}",
    "under a shading": f"{_LINE} q 500 0 0 90 50 700 cm /S sh Q",
    "white with black outlines": f"1 g 2 Tr {_LINE}",
    "only outlines, white fill": f"1 g 1 Tr {_LINE}",
    "black with thin white outlines": f"1 G 1.1 w 2 Tr {_LINE}",
    "in outlines that clip": f"1 g 5 Tr {_LINE}",
    "above a hole of the clipping path": f"{_WHOLE} 60 700 400 22.7 re W* n {_LINE}",
    "black with thin white outlines, enlarged": "1 G .11 w 2 Tr 10 0 0 10 0 0 cm "
    "BT /F1 1.2 Tf 7.2 72 Td (Invoice 7) Tj ET",
    "black with thin white outlines, on a rotated page": "1 G .11 w 2 Tr 0 10 -10 0 612 0 cm "
    "BT /F1 1.2 Tf 30 20 Td (Invoice 7) Tj ET",
    "black with wide black outlines": f"9 w 2 Tr {_LINE}",
    "white with wide black outlines": f"1 g 9 w 2 Tr {_LINE}",
    "also as a clipping path": f"4 Tr 1 G {_LINE}",
    "black with thin white outlines, large": "1 G 9 w 2 Tr .1 0 0 .1 0 0 cm "
    "BT /F1 120 Tf 720 7200 Td (Invoice 7) Tj ET",
    "outlines in a pattern, on a black bar": f"{_BAR} /Pattern CS /P SCN 1 Tr {_LINE}",
}
_HIDDEN = {
    **{name: partial(_page, content) for name, content in _HIDDEN_TEXT.items()},
    "in zero percent of a spot colour": partial(
        _page, f"/C cs 0 scn {_LINE}", resources=_INK.format("Black")
    ),
    "in a white spot colour": partial(
        _page,
        f"/C cs 1 scn {_LINE}",
        resources=_INK.format("Black").replace("/C1 [0]", "/C1 [1]"),
    ),
    "in a white spot colour, initial value": partial(
        _page, f"/C cs {_LINE}", resources=_INK.format("Black").replace("/C1 [0]", "/C1 [1]")
    ),
    "in zero percent of a spot colour with an unknown tint transform": partial(
        _page,
        f"/C cs 0 scn {_LINE}",
        resources=_INK.format("Black").replace("/FunctionType 2", "/FunctionType 4"),
    ),
    "in a layer hidden by default": partial(
        _page,
        pdf_ways._IN_LAYER,
        _OFF_LAYER,
        resources="/Properties << /L 6 0 R >>",
        root="/OCProperties << /OCGs [6 0 R] /D << /BaseState /OFF >> >>",
    ),
    "in 50 percent of the None colorant": partial(
        _page, f"/C cs .5 scn {_LINE}", resources=_INK.format("None")
    ),
    "too transparent to be visible": partial(
        _page, f"/G gs {_LINE}", resources="/ExtGState << /G << /ca 0.09411764705882353 >> >>"
    ),
    "white on a transparent bar": partial(_page, f"q /G gs {_BAR} Q {_WHITE}", resources=_FAINT),
    "under a bar, in a graphics state without a change": partial(
        _page, f"/G gs {_LINE} {_BAR}", resources="/ExtGState << /G << /ca 1 >> >>"
    ),
    "in a hidden layer, after nested marked content": partial(
        _page, f"/OC /L BDC /Span BMC EMC {_LINE} EMC", _OFF_LAYER, **_IN_OFF
    ),
    "in a form moved off the page by its matrix": partial(
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
    "in the only visible layer": partial(
        _page,
        pdf_ways._IN_LAYER,
        _OFF_LAYER,
        resources="/Properties << /L 6 0 R >>",
        root="/OCProperties << /OCGs [6 0 R] /D << /BaseState /OFF /ON [6 0 R] >> >>",
    ),
    **{
        f"in a black spot colour, {name}": partial(_page, content, resources=_INK.format("Black"))
        for name, content in {
            "100 percent": f"/C cs 1 scn {_LINE}",
            "50 percent": f"/C cs .5 scn {_LINE}",
            "initial value": f"/C cs {_LINE}",
            "followed by black": f"/C cs 0 scn 0 g {_LINE}",
        }.items()
    },
    "in one of two spot colours": partial(
        _page,
        f"/C cs 0 1 scn {_LINE}",
        resources="/ColorSpace << /C [/DeviceN [/Red /Blue] /DeviceCMYK << /FunctionType 4 >>] >>",
    ),
    "after a hidden layer": partial(
        _page, f"/OC /L BDC BT (x) Tj ET EMC {_LINE}", _OFF_LAYER, **_IN_OFF
    ),
    "after an empty hidden layer": partial(_page, f"/OC /L BDC EMC {_LINE}", _OFF_LAYER, **_IN_OFF),
    "in a span that names a layer": partial(
        _page, f"/Span /L BDC {_LINE} EMC", _OFF_LAYER, **_IN_OFF
    ),
    "under a semi-transparent picture": partial(
        _page,
        f"{_LINE} q /G gs 500 0 0 90 50 700 cm /X Do Q",
        _IMAGE,
        resources=f"{_PICTURED} {_HALF}",
    ),
    **{
        f"next to a picture slanted {name}": partial(
            _page, f"{_LINE} q {matrix} cm /X Do Q", _IMAGE, resources=_PICTURED
        )
        for name, matrix in (
            ("to the right", "100 0 300 300 60 600"),
            ("upwards", "300 300 0 100 60 500"),
        )
    },
    **{
        f"white on the {name} of a rotated picture": partial(
            _page, _DIAMOND.format(place), _IMAGE, resources=_PICTURED
        )
        for name, place in (("left", "100 717"), ("bottom", "135 650"), ("right", "200 717"))
    },
}
_LAB = "/Lab << /WhitePoint [0.95 1 1.09] >>"
_SPACE = "/ColorSpace << /C {} >>"
_LAB_SPACE = _SPACE.format(f"[{_LAB}]")
_BLACK_FIRST = _SPACE.format("[/Indexed /DeviceRGB 1 <000000ffffff>]")
_WHITE_FIRST = _SPACE.format("[/Indexed /DeviceRGB 1 <ffffff000000>]")
_LISTED = _SPACE.format("[/Indexed /DeviceGray 1 6 0 R]")
_LAB_INK = _SPACE.format(
    f"[/Separation /X [{_LAB}] << /FunctionType 2 /Domain [0 1] /C0 [0 0 0] /C1 [100 0 0] /N 1 >>]"
)
_POWER = "<< /FunctionType 2 /Domain [0 1] {} >>"
_SHADED = f"[/Separation /X /DeviceGray {_POWER}]"
_UNKNOWN_INK = _SPACE.format("[/Separation /X /DeviceGray << /FunctionType 4 >>]")
_STROKES = "/ExtGState << /G << {} >> >>"
_GIVEN = "/ExtGState << /G << /Font [6 0 R {}] >> >>"
_HELVETICA = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"


def _coloured(content: str, space: str, *more: str) -> Any:
    return partial(_page, f"{content} {_LINE}", *more, resources=space)


_HIDDEN_COLOURS = {
    "in zero percent of DeviceN inks": _coloured(
        "/C cs 0 scn",
        _SPACE.format(_SHADED.format("/C0 [1] /C1 [0] /N 1")).replace(
            "/Separation /X", "/DeviceN [/X]"
        ),
    ),
    "in a white spot colour with an indirect tint transform": _coloured(
        "/C cs 1 scn",
        _SPACE.format("[/Separation /X 6 0 R 7 0 R]"),
        f"[{_LAB}]",
        _POWER.format("/C0 [0 0 0] /C1 [100 0 0] /N 1"),
    ),
    "in a spot colour that is white by default": _coloured(
        "/C cs 1 scn", _SPACE.format(_SHADED.format("/N 1"))
    ),
    "in a spot colour that turns white early": _coloured(
        "/C cs .5 scn", _SPACE.format(_SHADED.format("/N .05"))
    ),
    "in more than 100 percent of a pale spot colour": _coloured(
        "/C cs 2 scn", _SPACE.format(_SHADED.format("/C0 [1] /C1 [.95] /N 1"))
    ),
    "in zero percent of a spot colour, indexed": _coloured(
        "/C cs 0 sc",
        _SPACE.format(f"[/Indexed {_SHADED.format('/C0 [1] /C1 [0] /N 1')} 1 <00ff>]"),
    ),
    "white in Lab": _coloured("/C cs 100 0 0 sc", _LAB_SPACE),
    "nearly white in Lab": _coloured("/C cs 98 5 -5 sc", _LAB_SPACE),
    "initial black in Lab, on a black bar": _coloured(f"{_BAR} /C cs", _LAB_SPACE),
    "white, indexed": _coloured("/C cs 1 sc", _BLACK_FIRST),
    "white, first indexed colour": _coloured("/C cs", _WHITE_FIRST),
    "white, indexed by a stream": _coloured("/C cs 1 sc", _LISTED, _stream("<< {} >>", "\0\xff")),
    "in a lightening spot colour": _coloured("/C cs 1 scn", _LAB_INK),
    "in zero percent of a lightening spot colour, on a black bar": _coloured(
        f"{_BAR} /C cs 0 scn", _LAB_INK
    ),
    "white, on a bar in the None colorant": partial(
        _page, f"/C cs 1 scn 60 710 300 30 re f {_WHITE}", resources=_INK.format("None")
    ),
    "in transparent outlines": _coloured("/G gs 1 Tr", _STROKES.format("/CA 0")),
    "in white outlines widened by a graphics state": _coloured(
        "1 G 2 Tr /G gs", _STROKES.format("/LW 2")
    ),
    "in outlines of the None colorant": _coloured("/C CS 1 SCN 1 Tr", _INK.format("None")),
    "outlines in a transparent group": _grouped("/CA 0 /ca 0", "/CA 1"),
    "tiny by a graphics state": partial(
        _page,
        "BT /F1 12 Tf /G gs 72 720 Td (Invoice 7) Tj ET",
        _HELVETICA,
        resources=_GIVEN.format(1),
    ),
    "under a picture that is not a mask": partial(
        _page,
        f"{_LINE} q 500 0 0 90 50 700 cm /X Do Q",
        _IMAGE.replace("/BitsPerComponent 8", "/BitsPerComponent 8 /ImageMask false"),
        resources=_PICTURED,
    ),
}
_SEEN_COLOURS = {
    "in a spot colour without a tint transform": _coloured(
        "/C cs 1 scn", _SPACE.format("[/Separation /X /DeviceGray]")
    ),
    "in 30 percent of a spot colour with an unknown tint transform": _coloured(
        "/C cs .3 scn", _UNKNOWN_INK
    ),
    "in zero percent of a spot colour that is white by default": _coloured(
        "/C cs 0 scn", _SPACE.format(_SHADED.format("/N 1"))
    ),
    "in half of a spot colour that is white by default": _coloured(
        "/C cs .47 scn", _SPACE.format(_SHADED.format("/N 1"))
    ),
    "grey in Lab": _coloured("/C cs 50 0 0 sc", _LAB_SPACE),
    "grey, indexed": _coloured(
        "/C cs 1 sc", _SPACE.format("[/Indexed /DeviceRGB 1 <ffffff808080>]")
    ),
    "black in Lab": _coloured("/C cs 0 0 0 sc", _LAB_SPACE),
    "grey in Lab, on a black bar": _coloured(f"{_BAR} /C cs 50 0 0 sc", _LAB_SPACE),
    "yellow in Lab": _coloured("/C cs 100 0 6 sc", _LAB_SPACE),
    "pink in Lab": _coloured("/C cs 100 6 0 sc", _LAB_SPACE),
    "initial black in Lab": _coloured("1 g /C cs", _LAB_SPACE),
    "black, indexed": _coloured("/C cs 1 sc", _WHITE_FIRST),
    "black, first indexed colour": _coloured("/C cs", _BLACK_FIRST),
    "black, indexed by a stream": _coloured("/C cs 1 sc", _LISTED, _stream("<< {} >>", "\xff\0")),
    "in zero percent of a lightening spot colour": _coloured("/C cs 0 scn", _LAB_INK),
    "in a lightening spot colour, on a black bar": _coloured(f"{_BAR} /C cs 1 scn", _LAB_INK),
    "in an unknown amount of a spot colour": _coloured("/C cs scn", _LAB_INK),
    "white on a semi-transparent bar": _coloured(f"q /G gs {_BAR} Q 1 g", _HALF),
    "in opaque outlines with a transparent fill": _coloured("/G gs 1 Tr", _STROKES.format("/ca 0")),
    "in wide semi-transparent white outlines": _coloured(
        "1 G 9 w 2 Tr /G gs", _STROKES.format("/CA .5")
    ),
    "filled, with outlines of the None colorant": _coloured(
        "/C CS 1 SCN 9 w 2 Tr", _INK.format("None")
    ),
    "in a font from a graphics state": partial(
        _page,
        "BT /G gs 72 720 Td (Invoice 7) Tj ET",
        _HELVETICA,
        resources=_GIVEN.format(12),
        font="",
    ),
    "in a font from a graphics state, after a tiny one": partial(
        _page,
        "BT /F1 1 Tf /G gs 72 720 Td (Invoice 7) Tj ET",
        _HELVETICA,
        resources=_GIVEN.format(12),
    ),
    "in a font from an indirect graphics state": partial(
        _page,
        "BT /G gs 72 720 Td (Invoice 7) Tj ET",
        _HELVETICA,
        "<< /Font 8 0 R >>",
        "[6 0 R 12]",
        resources="/ExtGState << /G 7 0 R >>",
        font="",
    ),
}
