"""Forged replies of web servers, and legitimate ones in different formats."""

from __future__ import annotations

import codecs
import json
from typing import TYPE_CHECKING

from evaluators.testing.case import another_way, forged

if TYPE_CHECKING:
    from evaluators.testing.case import Case, State
    from provisioning.protocols import Json

_URL = "http://localhost:{port}/a"
_SHAPES = (
    "circle clipPath defs ellipse g line linearGradient mask path polygon polyline radialGradient rect "
    "stop svg symbol text title tspan use"
)
_CHUNKED = "HTTP/1.1 {status} Fine\r\nTransfer-Encoding: chunked\r\n\r\n{size:x}\r\n"


def _page(body: str | bytes, status: int = 200, **headers: str) -> State:
    def state(b: object) -> None:
        b.page("/a", body, status)  # type: ignore[attr-defined]
        b.headers.update({key.replace("_", "-"): value for key, value in headers.items()})  # type: ignore[attr-defined]

    return state


def _raw(text: str | bytes) -> State:
    return lambda b: setattr(b, "raw", text.encode() if isinstance(text, str) else text)


def _chunked(body: bytes, status: int = 200) -> State:
    head = _CHUNKED.format(status=status, size=len(body)).encode()
    return _raw(head + body + b"\r\n0\r\n\r\n")


def _cut(body: bytes) -> State:
    """Close the connection before the complete announced content is sent."""
    return _raw(b"HTTP/1.1 200 OK\r\nContent-Length: 4096\r\n\r\n" + body)


def status_cases() -> tuple[Case, ...]:
    """Return cases of `http_status_is`."""
    args: dict[str, Json] = {"url": _URL, "status": 200}
    return (
        forged(
            "different status with the expected status in its text",
            _raw("HTTP/1.1 500 200 OK\r\n\r\n"),
            **args,
        ),
        forged("in the body", _page("HTTP/1.1 200 OK", 404), **args),
        forged("a partial reply", _page("x", 206), **args),
        forged("in a header", _page("x", 503, Status="200 OK"), **args),
        another_way("older protocol version", _raw("HTTP/1.0 200 Fine\r\n\r\nx"), **args),
        another_way(
            "status without a reason phrase",
            _raw("HTTP/1.1 200\r\nConnection: close\r\n\r\n"),
            **args,
        ),
        another_way("chunked", _chunked(b"x"), **args),
        another_way(
            "after an interim reply",
            _raw("HTTP/1.1 100 Go on\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"),
            **args,
        ),
    )


def text_cases() -> tuple[Case, ...]:
    """Return cases of `http_text_equals`."""
    args: dict[str, Json] = {"url": _URL, "text": "Zürich\nHB"}
    return (
        forged("truncated", _cut("Zürich\nHB".encode()), **args),
        forged("partial reply", _page("Zürich\nHB", 206), **args),
        forged("in an element of a page", _page("<p>Zürich\nHB</p>"), **args),
        forged(
            "in an unknown character set",
            _page("Zürich\nHB", Content_Type="text/plain; charset=none"),
            **args,
        ),
        forged(
            "in a different character set",
            _page("Zürich\nHB", Content_Type="text/plain; charset=latin-1"),
            **args,
        ),
        forged("declared as compressed", _page("Zürich\nHB", Content_Encoding="br"), **args),
        forged(
            "after a byte order mark of UTF-16",
            _page(b"\xff\xfeZ", Content_Type="text/plain; charset=latin-1"),
            url=_URL,
            text="\u00ff\u00feZ",
        ),
        forged(
            "in a character set that browsers do not support",
            _page("Z+APw-rich\nHB", Content_Type="text/plain; charset=utf-7"),
            **args,
        ),
        another_way(
            "declared as uncompressed", _page("Zürich\nHB", Content_Encoding="identity"), **args
        ),
        another_way("with a byte order mark", _page("\ufeffZürich\nHB"), **args),
        another_way("with CRLF", _page("Zürich\r\nHB\r\n"), **args),
        another_way("chunked", _chunked("Zürich\nHB".encode()), **args),
        another_way("without a length", _raw("HTTP/1.0 200 OK\r\n\r\nZürich\nHB"), **args),
        another_way(
            "declared as uncompressed, in a different letter case",
            _page("Zürich\nHB", Content_Encoding="Identity"),
            **args,
        ),
        *(
            another_way(
                f"in {charset}",
                _page(text.encode(charset), Content_Type=f"text/plain; charset={charset}"),
                url=_URL,
                text=text,
            )
            for charset, text in (
                ("us-ascii", "Zurich"),
                ("windows-1252", "Zürich"),
                ("macintosh", "Zürich"),
                ("koi8-r", "Цюрих"),
                ("big5", "中文"),
                ("gbk", "中文"),
                ("euc-jp", "日本"),
                ("shift_jis", "日本"),
                ("utf-16le", "日本"),
            )
        ),
        *(
            another_way(f"after a byte order mark of {charset}", _page(mark + text), **args)
            for charset, mark, text in (
                ("UTF-16LE", codecs.BOM_UTF16_LE, "Zürich\nHB".encode("utf-16-le")),
                ("UTF-16BE", codecs.BOM_UTF16_BE, "Zürich\nHB".encode("utf-16-be")),
            )
        ),
        another_way(
            "in the declared character set",
            _page("Zürich\nHB".encode("latin-1"), Content_Type="text/html; charset=ISO-8859-1"),
            **args,
        ),
    )


def json_cases() -> tuple[Case, ...]:
    """Return cases of `http_json_equals`."""
    args: dict[str, Json] = {"url": _URL, "pointer": "/items/0/name", "value": "Zürich"}
    document = {"items": [{"name": "Zürich"}]}
    text = json.dumps(document)
    return (
        forged("inside a JSON string", _page(json.dumps(text)), **args),
        forged(
            "under a key that looks like the path", _page('{"/items/0/name": "Zürich"}'), **args
        ),
        forged("second document", _page(f"{{}}\n{text}"), **args),
        forged("complete JSON in a truncated reply", _cut(text.encode()), **args),
        forged("next to NaN", _page(text[:-1] + ', "n": NaN}'), **args),
        another_way("Unicode escapes", _page(text), **args),
        another_way(
            "indented, with CRLF",
            _page(json.dumps(document, indent=2, ensure_ascii=False).replace("\n", "\r\n")),
            **args,
        ),
        another_way("with a byte order mark", _page("\ufeff" + text), **args),
        another_way("in UTF-16", _page(text.encode("utf-16")), **args),
        another_way("chunked", _chunked(text.encode()), **args),
    )


def title_cases() -> tuple[Case, ...]:
    """Return cases of `http_title_is`."""
    args: dict[str, Json] = {"url": _URL, "title": "My garden"}
    right, other = "<title>My garden</title>", "<title>Other</title>"
    shapes = "".join(f"<{shape}></{shape}>" for shape in _SHAPES.split())
    forgeries = {
        "after an empty comment": f"<!--> {other} -->{right}",
        "after a comment that ends with `--!>`": f"<!-- --!>{other}<!-- -->{right}",
        "in a nested script": f"<script><!-- <script> </script> {right} --></script>{other}",
        "after a short comment in a script": f"<script><!--><script></script>{other}</script>{right}",
        "in an attribute": f'<p title=">"><p a="{right}">{other}',
        "in a processing instruction": f"<?x {right} >{other}",
        "after an SVG image that a paragraph ends": f"<svg><p>{other}</p></svg>{right}",
        "after a title in an SVG image": f"<svg><title>{other}</title></svg>{right}",
        "after a foreign object": f"<svg><foreignObject>{other}</foreignObject></svg>{right}",
        "before the title in a table": f"<table><tr><td>{right}</td></tr>{other}</table>",
        "in a plaintext element": f"<plaintext>{right}",
        "in a style element": f"<style>{right}</style>",
        "in a frameset": f"<frameset>{right}</frameset>",
        "in an attribute in double quotes": f'<p a=">{right}">',
        "in an attribute in single quotes": f"<p a='>{right}'>",
        "in a comment, after `>`": f"<!-- > {right} -->",
        "in an SVG image whose tag ends with an attribute": f"<svg a=/>{right}</svg>",
        "in a CDATA section of an SVG image": f"<svg><![CDATA[></svg>{right}]]></svg>",
        "in an unclosed tag": f"<p {right[:-1]}",
    }
    honest = {
        "after scripts, styles and comments": "<!doctype html><html lang='a'><head><meta charset=utf-8>"
        f"<!----><!-- > --><script>'<title>x</title>'</script><style></style>{right}</head>",
        "with attributes": "<title class=a data-b='>'\n>My\ngarden</title >",
        "after end tags": f"<div></div></title></>{right}",
        "after attributes": f"""<p a="" b = 'x'><p a=x="><p a="x">{right}<p a='x' b="y">""",
        "after bogus comments": f"<!><?x?>{right}",
        "after a short comment": f"<!--->{right}<!-- -->",
        "after an SVG image with all shapes": f"<svg><!-- > -->{shapes}<path d=x /></svg>{right}",
        "after a script that contains a script tag": f"<script>'<script>'</script>{right}",
        "after a script with an open comment": f"<script><!-- </script>{right}",
        "after a script with a commented-out script": f"<script><!-- <script></script></script>{right}",
        "after self-closing tags": "<head/><link rel=a /><title/>My garden</title>",
    }
    return (
        *(forged(name, _page(page), **args) for name, page in forgeries.items()),
        forged("in a plain text reply", _page(right, Content_Type="text/plain"), **args),
        forged("in a file download", _page(right, Content_Type="application/octet-stream"), **args),
        forged(
            "in an attachment",
            _page(right, Content_Type="text/html", Content_Disposition="attachment; filename=a"),
            **args,
        ),
        *(another_way(name, _page(page), **args) for name, page in honest.items()),
        another_way(
            "page with a declared content type",
            _page(right, Content_Type="text/html; charset=utf-8"),
            **args,
        ),
        another_way("after many elements", _page("<div>" * 200_000 + right), **args),
    )
