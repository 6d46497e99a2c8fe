"""Text that is barely seen, or barely not, by each property that readers of text documents know."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from evaluators.testing.case import another_way, forged
from tests.evaluator_cases.document_cases import at
from tests.evaluator_cases.text_ways import (
    body,
    document_of_style,
    odt_of_paragraph_style,
    odt_of_text_style,
    paragraph,
    run,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluators.testing.case import Case
    from provisioning.protocols import Json

_TOO_SMALL = ("1.99pt", "0.701mm", "0.0701cm", "0.0276in", "0.1655pc", "2.65px")
_LARGE_ENOUGH = ("2pt", "2.01pt", "0.71mm", "0.071cm", "0.028in", "0.168pc", "2.68px")
_INK = '<w:color w:val="{}"/>'
_HIGHLIGHT = '<w:highlight w:val="{}"/>'
_SHADING = '<w:shd w:val="clear" w:fill="{}"/>'
_OWN_COLOUR = f"<w:pPr>{_SHADING.format('ABCDEF')}</w:pPr><w:rPr>{_INK.format('ABCDEF')}</w:rPr>"
_MARKERS = {
    "blue": "0000FF",
    "cyan": "00FFFF",
    "darkBlue": "000080",
    "darkCyan": "008080",
    "darkGray": "808080",
    "darkGreen": "008000",
    "darkMagenta": "800080",
    "darkRed": "800000",
    "darkYellow": "808000",
    "green": "00FF00",
    "magenta": "FF00FF",
    "red": "FF0000",
}
"""Colours of highlights by name. Source: ECMA-376, 17.18.40."""
_UNSEEN_RUNS = {
    **{
        f"{rgb} on a highlight in {name}": _INK.format(rgb) + _HIGHLIGHT.format(name)
        for name, rgb in _MARKERS.items()
    },
    "white on a white highlight": _INK.format("FFFFFF") + _HIGHLIGHT.format("white"),
    "grey on a grey highlight": _INK.format("C0C0C0") + _HIGHLIGHT.format("lightGray"),
    "black on a black highlight": _INK.format("000000") + _HIGHLIGHT.format("black"),
    "white without a highlight": _INK.format("FFFFFF") + _HIGHLIGHT.format("none"),
    "filled with white": '<x:textFill xmlns:x="http://schemas.microsoft.com/office/word/2010/wordml">'
    '<x:solidFill><x:srgbClr x:val="FFFFFF"/></x:solidFill></x:textFill>',
    "filled with the theme's background colour": '<w:color w:val="000000"/><x:textFill '
    'xmlns:x="http://schemas.microsoft.com/office/word/2010/wordml"><x:solidFill>'
    '<x:schemeClr x:val="bg1"/></x:solidFill></x:textFill>',
    "filled with the theme's light colour": '<w:color w:val="000000"/><x:textFill '
    'xmlns:x="http://schemas.microsoft.com/office/word/2010/wordml"><x:solidFill>'
    '<x:schemeClr x:val="lt1"/></x:solidFill></x:textFill>',
    "in the theme's background colour": '<w:color w:val="000000" w:themeColor="background1"/>',
    "in the theme's light colour": '<w:color w:val="000000" w:themeColor="light1"/>',
    "yellow on a yellow highlight": _INK.format("FFFF00") + _HIGHLIGHT.format("yellow"),
    "in the colour of its pattern": _INK.format("00FF00")
    + '<w:shd w:val="solid" w:color="00FF00" w:fill="FFFFFF"/>',
    "in the colour of its shading": _INK.format("ABCDEF") + _SHADING.format("ABCDEF"),
    "character width of 1 %, with a percent sign": '<w:w w:val="1%"/>',
    "small and narrow": '<w:sz w:val="8"/><w:w w:val="40"/>',
    "default size and narrow": '<w:w w:val="18"/>',
}
_SEEN_RUNS = {
    "white on black, without a highlight": _INK.format("FFFFFF")
    + _HIGHLIGHT.format("none")
    + _SHADING.format("000000"),
    "black on automatic shading": _INK.format("000000") + _SHADING.format("auto"),
    "white on a highlight in a different colour": _INK.format("FFFFFF")
    + _HIGHLIGHT.format("yellow"),
    "in the fill colour of a solid pattern": _INK.format("ABCDEF")
    + '<w:shd w:val="solid" w:color="000000" w:fill="ABCDEF"/>',
    "in a different theme colour": '<w:color w:val="4472C4" w:themeColor="accent1"/>',
    "in the theme's background colour, on black": '<w:color w:val="FFFFFF" '
    'w:themeColor="background1"/>' + _SHADING.format("000000"),
    "red on yellow": _INK.format("FF0000") + _HIGHLIGHT.format("yellow"),
    "character width of 80 %": '<w:w w:val="80%"/>',
    "large and narrow": '<w:sz w:val="96"/><w:w w:val="10"/>',
    "4 pt and half width": '<w:sz w:val="8"/><w:w w:val="50"/>',
    "text fill": '<x:textFill xmlns:x="http://schemas.microsoft.com/office/word/2010/wordml">'
    '<x:solidFill><x:srgbClr x:val="000000"/></x:solidFill></x:textFill>',
}
_WRAPPERS = {
    "a smart tag": '<w:smartTag w:element="date">{}</w:smartTag>',
    "a field": '<w:fldSimple w:instr="AUTHOR">{}</w:fldSimple>',
    "custom XML": '<w:customXml w:element="note">{}</w:customXml>',
}
_UNSEEN_TEXT = {
    "half size and a tenth of the width": 'fo:font-size="50%" style:text-scale="10%"',
    "nearly transparent": 'loext:opacity="9%"',
    "transparent with a colour": 'fo:color="#000000" loext:opacity="0%"',
    "small and raised": 'fo:font-size="3pt" style:text-position="super"',
    "tiny at the baseline": 'fo:font-size="1.5pt" style:text-position="0%"',
    "background in the text colour": 'fo:color="#abcdef" fo:background-color="#ABCDEF"',
    "small and lowered": 'fo:font-size="3pt" style:text-position="-33% 58%"',
    "letters overlap by half": 'fo:font-size="12pt" fo:letter-spacing="-6.1pt"',
}
_SEEN_TEXT = {
    "barely opaque": 'loext:opacity="10%"',
    "colour without an opacity": 'fo:color="#000000"',
    "raised by 0 %": 'fo:font-size="3pt" style:text-position="0% 100%"',
    "at the baseline": 'fo:font-size="3pt" style:text-position="0%"',
    "at the baseline, without a unit": 'fo:font-size="3pt" style:text-position="0"',
    "invalid opacity": 'loext:opacity="1"',
    "letters overlap by less than half": 'fo:font-size="12pt" fo:letter-spacing="-5.9pt"',
    "default letter spacing": 'fo:letter-spacing="normal"',
    "transparent background": 'fo:background-color="transparent"',
    "half size": 'fo:font-size="50%"',
    "displayed": 'text:display="true"',
}
_UNSEEN_PARAGRAPHS = {
    "end beyond the right edge of the page": 'fo:margin-left="19.5cm"',
    "6 mm beyond the left edge of the page": 'fo:margin-left="-2.6cm"',
    "line height of 1.99 pt": 'fo:line-height="1.99pt"',
    "margins beyond the page": 'fo:margin="-3cm"',
    "line height of 16 %": 'fo:line-height="16%"',
}
_SEEN_PARAGRAPHS = {
    "4 mm beyond the left edge of the page": 'fo:margin-left="-2.4cm"',
    "line height of 2.01 pt": 'fo:line-height="2.01pt"',
    "with margins": 'fo:margin="1cm"',
    "line height of 18 %": 'fo:line-height="18%"',
    "default line height": 'fo:line-height="normal"',
}


def look_cases(text: str, args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return cases of a paragraph that is visible or not.

    Args:
        text: the paragraph.
        args: arguments of an evaluator that is met by only this paragraph.
    """
    path = str(args["path"])
    builders = {"unseen": forged, "seen": another_way}
    text_styles = {
        "unseen": {
            **_UNSEEN_TEXT,
            **{f"of {size}": f'fo:font-size="{size}"' for size in _TOO_SMALL},
        },
        "seen": {
            **_SEEN_TEXT,
            **{f"of {size}": f'fo:font-size="{size}"' for size in _LARGE_ENOUGH},
        },
    }
    return (
        *(
            builders[kind](f"docx: {name}", at(path, body(paragraph(run(text, xml)))), **args)
            for kind, runs in (("unseen", _UNSEEN_RUNS), ("seen", _SEEN_RUNS))
            for name, xml in runs.items()
        ),
        *(
            another_way(f"docx: {name}", at(path, body(paragraph(xml.format(run(text))))), **args)
            for name, xml in _WRAPPERS.items()
        ),
        another_way(
            "docx: white on a black paragraph, with automatic text shading",
            at(
                path,
                body(
                    paragraph(
                        run(text, _INK.format("FFFFFF") + _SHADING.format("auto")),
                        _SHADING.format("000000"),
                    )
                ),
            ),
            **args,
        ),
        forged(
            "docx: white on the shading of its paragraph",
            at(
                path,
                body(paragraph(run(text, _INK.format("ABCDEF")), _SHADING.format("ABCDEF"))),
            ),
            **args,
        ),
        *(
            builders[kind](f"docx: style, {name}", at(path, document_of_style(text, xml)), **args)
            for kind, name, xml in (
                ("unseen", "hidden", "<w:rPr><w:vanish/></w:rPr>"),
                ("unseen", "tiny", '<w:rPr><w:sz w:val="2"/></w:rPr>'),
                (
                    "unseen",
                    "in the colour of its shading",
                    _OWN_COLOUR,
                ),
                (
                    "seen",
                    "white on black",
                    f"<w:rPr>{_INK.format('FFFFFF')}{_SHADING.format('000000')}</w:rPr>",
                ),
            )
        ),
        *(
            builders[kind](
                f"odt: text {name}", at(path, partial(odt_of_text_style, text, xml)), **args
            )
            for kind, styles in text_styles.items()
            for name, xml in styles.items()
        ),
        *(
            builders[kind](
                f"odt: {name}", at(path, partial(odt_of_paragraph_style, text, xml)), **args
            )
            for kind, styles in (("unseen", _UNSEEN_PARAGRAPHS), ("seen", _SEEN_PARAGRAPHS))
            for name, xml in styles.items()
        ),
    )
