"""OpenDocument text on coloured pages and tables, repeated, not displayed, or split over lines of XML."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from evaluators.testing.case import another_way, forged, hostile, near_miss
from tests.evaluator_cases.document_cases import at
from tests.evaluator_cases.file_builders import encoded, noise, odf

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluators.testing.case import Case
    from provisioning.protocols import Json

_INK = (
    '<style:style style:name="{name}" style:family="text"><style:text-properties fo:color="{colour}"/>'
    "</style:style>"
)
_INKS = _INK.format(name="W", colour="#ffffff") + _INK.format(name="K", colour="#000000")
_LAYOUT = (
    '<style:page-layout style:name="{name}"><style:page-layout-properties fo:page-width="21cm" '
    'fo:margin-left="2cm" fo:margin-right="2cm" {more}/></style:page-layout>'
)
_BLACK = 'fo:background-color="#000000"'
_PAGES = (
    "<office:automatic-styles>"
    + _LAYOUT.format(name="Dark", more=_BLACK)
    + _LAYOUT.format(name="Plain", more='fo:background-color="transparent"')
    + "</office:automatic-styles><office:master-styles>{}</office:master-styles>"
)
_MASTER = '<style:master-page style:name="{}" style:page-layout-name="{}"/>'
_ON_DARK = _PAGES.format(_MASTER.format("Standard", "Dark") + _MASTER.format("Other", "Plain"))
_ON_PLAIN = _PAGES.format(
    _MASTER.format("Standard", "Plain")
    + _MASTER.format("Other", "Dark")
    + _MASTER.format("None", "x")
)
_BREAK = '<style:style style:name="{}" style:family="{}" style:master-page-name="{}"/>'
_BREAKS = (
    _BREAK.format("B", "paragraph", "Other")
    + _BREAK.format("T", "table", "Other")
    + _BREAK.format("S", "paragraph", "Standard")
    + _BREAK.format("N", "paragraph", "")
    + _BREAK.format("U", "paragraph", "None")
)
_FILLED = (
    '<style:style style:name="F" style:family="{}"><style:{}-properties '
    + _BLACK
    + "/></style:style>"
)


def _odt(body: str, **more: Any) -> Any:
    return partial(odf, "text", body, **more)


def _span(text: str, style: str) -> str:
    return f'<text:span text:style-name="{style}">{text}</text:span>'


def ground_cases(text: str, args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return cases of one paragraph, white or black, on coloured pages and sections.

    Args:
        text: the paragraph.
        args: arguments of an evaluator that is met by only this paragraph.
    """
    path = str(args["path"])
    white, black = (f"<text:p>{_span(text, ink)}</text:p>" for ink in "WK")
    begin = '<text:p text:style-name="{}">x</text:p>'
    begun, back = begin.format("B"), begin.format("S")
    table = (
        '<table:table table:style-name="T"><table:table-row><table:table-cell><text:p>x</text:p>'
        "</table:table-cell></table:table-row></table:table>"
    )
    own = f'<text:p text:style-name="B">{_span(text, "W")}</text:p>'
    section = '<text:section text:style-name="F">{}</text:section>'
    section_style = _INKS + _FILLED.format("section", "section")
    cases = (
        (another_way, "white on a black page", white, _ON_DARK, _INKS),
        (another_way, "without a colour on a black page", f"<text:p>{text}</text:p>", _ON_DARK, _INKS),
        (forged, "black on a black page", black, _ON_DARK, _INKS),
        (another_way, "black after a black page", begun + black, _ON_DARK, _INKS + _BREAKS),
        (forged, "white after a black page", begun + white, _ON_DARK, _INKS + _BREAKS),
        (another_way, "white on a later black page", begun + white, _ON_PLAIN, _INKS + _BREAKS),
        (another_way, "white after a heading on a black page", begun.replace("text:p", "text:h") + white, _ON_PLAIN,
         _INKS + _BREAKS),
        (another_way, "white at the start of a black page", own, _ON_PLAIN, _INKS + _BREAKS),
        (another_way, "white after a table on a black page", table + white, _ON_PLAIN, _INKS + _BREAKS),
        (forged, "white before a black page", white + begun, _ON_PLAIN, _INKS + _BREAKS),
        (forged, "white after a later black page", begun + back + white, _ON_PLAIN, _INKS + _BREAKS),
        (another_way, "white, later on a black page", begun + begin.format("N") + white, _ON_PLAIN,
         _INKS + _BREAKS),
        (another_way, "black on a page without a style", begun + begin.format("U") + black, _ON_PLAIN,
         _INKS + _BREAKS),
        (another_way, "white in a black section", section.format(white), "", section_style),
        (forged, "black in a black section", section.format(black), "", section_style),
        (another_way, "white in a list in a black section",
         section.format(f"<text:list><text:list-item>{white}</text:list-item></text:list>"), "", section_style),
    )  # fmt: skip
    return tuple(
        case(f"odt: {name}", at(path, _odt(xml, styles=styles, automatic=automatic)), **args)
        for case, name, xml, styles, automatic in cases
    )


def _row(*cells: str, attributes: str = "", cell: str = "") -> str:
    inner = "".join(
        f"<table:table-cell {cell}><text:p>{text}</text:p></table:table-cell>" for text in cells
    )
    return f"<table:table-row {attributes}>{inner}</table:table-row>"


def _table(*rows: str, attributes: str = "") -> str:
    return f"<table:table {attributes}>{''.join(rows)}</table:table>"


def table_ground_cases(args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return cases of the table of Ann's age on coloured cells, rows, tables and pages."""
    path = str(args["path"])
    used = 'table:style-name="F"'

    def tables(ink: str) -> dict[str, tuple[str, str]]:
        texts = [_span(text, ink) for text in ("Name", "Age")]
        last = _row("Ann", "31")
        return {
            "cells": ("table-cell", _table(_row(*texts, cell=used), last)),
            "a row": ("table-row", _table(_row(*texts, attributes=used), last)),
            "a table": ("table", _table(_row(*texts), last, attributes=used)),
        }

    nested = "".join(
        _FILLED.format(family, family).replace("#000000", colour)
        for family, colour in (("table-cell", "#000000"), ("table-row", "#ffffff"))
    )
    both = _table(
        _row(_span("Name", "W"), _span("Age", "W"), attributes=used, cell=used), _row("Ann", "31")
    )
    first = 'table:style-name="T"'
    on_page = _table(_row(_span("Name", "W"), "Age"), _row("Ann", "31"), attributes=first)
    return (
        *(
            case(
                f"odt: {ink} on {name} in black",
                at(path, _odt(xml, automatic=_INKS + _FILLED.format(family, family))),
                **args,
            )
            for case, ink in ((another_way, "White"), (forged, "Kohl-black"))
            for name, (family, xml) in tables(ink[0]).items()
        ),
        another_way(
            "odt: white on black cells of a white row",
            at(path, _odt(both, automatic=_INKS + nested)),
            **args,
        ),
        another_way(
            "odt: white in a table at the start of a black page",
            at(path, _odt(on_page, styles=_ON_PLAIN, automatic=_INKS + _BREAKS)),
            **args,
        ),
        forged(
            "odt: white in a table on a white page",
            at(path, _odt(on_page, styles=_ON_DARK, automatic=_INKS + _BREAKS)),
            **args,
        ),
    )


def repeated_cases(args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return cases of the table of Ann's age with repeated rows or cells.

    Args:
        args: arguments of an evaluator of a table, without its rows.
    """
    path = str(args["path"])
    twice, thrice = 'table:number-rows-repeated="2"', 'table:number-columns-repeated="3"'
    head, ann = _row("Name", "Age"), _row("Ann", "31")
    plain: dict[str, Any] = {**args, "rows": [["Name", "Age"], ["Ann", "31"]]}
    two: dict[str, Any] = {**args, "rows": [["Name", "Age"], ["Ann", "31"], ["Ann", "31"]]}
    wide: dict[str, Any] = {**args, "rows": [["Ann", "Ann", "Ann"]]}
    repeated = _table(head, _row("Ann", "31", attributes=twice))
    many = 'table:number-{}-repeated="{}"'
    full = _row("x", attributes=many.format("rows", 200_000))
    second_table: dict[str, Any] = {**args, "rows": [["Ann"]], "table": 2}
    second = _table(_row("Ann"))
    empty = "<table:table-row {}/>"
    return (
        forged("odt: repeated row, expected once", at(path, _odt(repeated)), **plain),
        another_way("odt: repeated row, expected twice", at(path, _odt(repeated)), **two),
        another_way("odt: duplicate row", at(path, _odt(_table(head, ann, ann))), **two),
        another_way("odt: repeated cell", at(path, _odt(_table(_row("Ann", cell=thrice)))), **wide),
        another_way(
            "odt: exactly at the row limit", at(path, _odt(_table(full) + second)), **second_table
        ),
        *(
            hostile(
                f"odt: {name} over the limit",
                at(path, _odt(_table(xml) + second)),
                **second_table,
            )
            for name, xml in (
                ("rows", full + _row("x")),
                ("cells", _row("x", cell=many.format("columns", 200_001))),
                ("empty rows", empty.format(many.format("rows", 10**12))),
                ("cells in rows", _row("x", "y", attributes=many.format("rows", 100_001))),
            )
        ),
    )


def merged_cases(args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return cases of tables with a cell that is merged over two columns, or over two rows.

    Args:
        args: arguments of an evaluator of a table, without its rows.
    """
    path = str(args["path"])
    covered = "<table:covered-table-cell><text:p>{}</text:p></table:covered-table-cell>"

    def table(first: str, *others: str) -> Any:
        rows = (f"<table:table-row>{cells}</table:table-row>" for cells in others)
        return at(path, _odt(_table(first, *rows)))

    wide = _row("Ann", cell='table:number-columns-spanned="2"').replace("</table:table-row>", "{}")
    cell = "<table:table-cell><text:p>{}</text:p></table:table-cell>"
    across = table(
        wide.format(f"{covered.format('Lee')}</table:table-row>"),
        cell.format("1") + cell.format("2"),
    )
    down = table(
        _row("Ann", cell='table:number-rows-spanned="2"').replace(
            "</table:table-row>", f"{cell.format('1')}</table:table-row>"
        ),
        covered.format("Lee") + cell.format("2"),
    )
    plain = table(_row("Ann", ""), cell.format("1") + cell.format("2"))

    def wanted(*texts: list[str]) -> dict[str, Any]:
        return {**args, "rows": list(texts)}

    last = ["1", "2"]
    return (
        another_way("odt: merged over two columns", across, **wanted(["Ann", ""], last)),
        another_way("odt: merged over two rows", down, **wanted(["Ann", "1"], ["", "2"])),
        another_way("odt: no merged cells", plain, **wanted(["Ann", ""], last)),
        forged("odt: text of a covered cell", across, **wanted(["Ann", "Lee"], last)),
        forged("odt: text of the merged cell twice", down, **wanted(["Ann", "1"], ["Ann", "2"])),
    )


def blank_cases(text: str, args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return cases of one paragraph with white space in its XML.

    Args:
        text: the paragraph, of two words.
        args: arguments of an evaluator that is met by only this paragraph.
    """
    path = str(args["path"])
    first, rest = text.split(" ")
    ways = {
        "each word on its own XML line": f"{first}\n{rest}",
        "multiple white space": f"{first}  \t\r\n {rest}",
        "space in each of two spans": _span(first + " ", "K") + _span(f" {rest}", "K"),
        "span of only a space": f"{first} {_span(' ', 'K')} {rest}",
        "leading white space": f"\n  {_span(' ' + first, 'K')} {rest}\n",
        "empty span in between": f"{first} {_span('', 'K')} {rest}",
    }
    forgeries = {
        "space before a space element": f"{first} <text:s/>{rest}",
        "space after a space element": f"{first}<text:s/> {rest}",
        "two spaces": f"{first}<text:s text:c='2'/>{rest}",
        "footnote between two spaces": f"{first} <text:note><text:note-body/></text:note> {rest}",
        "missing space": first + rest,
    }
    return (
        *(
            another_way(
                f"odt: {name}", at(path, _odt(f"<text:p>{xml}</text:p>", automatic=_INKS)), **args
            )
            for name, xml in ways.items()
        ),
        *(
            forged(
                f"odt: {name}", at(path, _odt(f"<text:p>{xml}</text:p>", automatic=_INKS)), **args
            )
            for name, xml in forgeries.items()
        ),
    )


def own_colour_cases(args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return cases of the red passage "now" with or without the automatic font colour."""
    path = str(args["path"])
    text = f"<text:p>It is {_span('now', 'L')} or never</text:p>"
    style = (
        '<style:style style:name="R" style:family="text"><style:text-properties fo:color="#ff0000"/>'
        '</style:style><style:style style:name="L" style:family="text" style:parent-style-name="R">'
        '<style:text-properties style:use-window-font-color="{}" {}/></style:style>'
    )
    values = (
        (forged, "automatic colour next to red", "true", 'fo:color="#ff0000"'),
        (forged, "automatic colour over inherited red", "true", ""),
        (another_way, "no automatic colour next to red", "false", 'fo:color="#ff0000"'),
        (another_way, "no automatic colour over inherited red", "false", ""),
    )
    return tuple(
        case(f"odt: {name}", at(path, _odt(text, automatic=style.format(value, more))), **args)
        for case, name, value, more in values
    )


def default_size_cases(args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return cases of the passage "now" of 18 pt by the default paragraph style."""
    path = str(args["path"])
    default = (
        '<office:styles><style:default-style style:family="paragraph"><style:text-properties '
        'fo:font-size="{}"/></style:default-style><style:style style:name="P" style:family="paragraph">'
        '<style:text-properties fo:font-size="{}"/></style:style></office:styles>'
    )
    text = '<text:p text:style-name="{}">now</text:p>'
    values = (
        (another_way, "default size", "18pt", "", ""),
        (another_way, "default size, style without a size", "18pt", "", "P"),
        (another_way, "default size, missing style", "18pt", "", "Q"),
        (another_way, "150 % of the default size", "12pt", "150%", "P"),
        (near_miss, "different size than the default", "18pt", "12pt", "P"),
        (near_miss, "relative default size", "50%", "", "P"),
    )
    return tuple(
        case(
            f"odt: {name}",
            at(path, _odt(text.format(style), styles=default.format(size, own))),
            **args,
        )
        for case, name, size, own, style in values
    )


def default_share_cases(text: str, args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return a case of a paragraph whose default paragraph style has a relative font size."""
    path = str(args["path"])
    styles = (
        '<office:styles><style:default-style style:family="paragraph"><style:text-properties '
        'fo:font-size="50%"/></style:default-style></office:styles>'
    )
    document = _odt(f"<text:p>{text}</text:p>", styles=styles)
    return (another_way("odt: default size of 50 %", at(path, document), **args),)


def displayed_picture_cases(args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return cases of two pictures, of which the second is displayed or not."""
    path = str(args["path"])
    files = {f"Pictures/{number}.png": encoded(noise(number, (16, 12))) for number in (1, 2)}
    image = '<draw:image xlink:href="Pictures/{}.png"/>'
    good = f"<text:p><draw:frame>{image.format(1)}</draw:frame></text:p>"
    hidden = "".join(
        f'<style:style style:name="{name}" style:family="{family}"><style:text-properties text:display="{value}"/>'
        "</style:style>"
        for family, name, value in (
            ("text", "H", "none"),
            ("paragraph", "H", "true"),
            ("text", "P", "true"),
            ("paragraph", "P", "none"),
        )
    )

    def frame(attributes: str = "") -> str:
        return f"<draw:frame {attributes}>{image.format(2)}</draw:frame>"

    def alone(attributes: str) -> str:
        return f"<text:p>{frame(attributes)}</text:p>"

    field = '<text:hidden-paragraph text:is-hidden="{}"/>'
    bodies = (
        (forged, "not displayed", alone('draw:display="none"')),
        (forged, "displayed only when printed", alone('draw:display="printer"')),
        (another_way, "always displayed", alone('draw:display="always"')),
        (forged, "in hidden text", f"<text:p>{_span(frame(), 'H')}</text:p>"),
        (forged, "in nested hidden text", f"<text:p>{_span(_span(frame(), 'W'), 'H')}</text:p>"),
        (forged, "in a hidden paragraph", f'<text:p text:style-name="P">{frame()}</text:p>'),
        (forged, "in a hidden heading", f'<text:h text:style-name="P">{frame()}</text:h>'),
        (forged, "in a paragraph hidden by a field", f"<text:p>{field.format('true')}{frame()}</text:p>"),
        (another_way, "in a paragraph that a field does not hide",
         f"<text:p>{field.format('false')}{frame()}</text:p>"),
        (another_way, "in text that is not hidden", f"<text:p>{_span(frame(), 'W')}</text:p>"),
        (forged, "0.01 mm wide", alone('svg:width="0.01mm" svg:height="2cm"')),
        (forged, "0.24 mm high", alone('svg:width="2cm" svg:height="0.24mm"')),
        (another_way, "0.25 mm high", alone('svg:height="0.25mm"')),
    )  # fmt: skip
    return tuple(
        case(
            f"odt: second picture: {name}",
            at(path, _odt(good + xml, files=files, automatic=_INKS + hidden)),
            **args,
        )
        for case, name, xml in bodies
    )
