"""Forged messages, and legitimate ones that other mail programs create."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.testing.case import another_way, forged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evaluators.testing.case import Case, State
    from provisioning.protocols import Json
    from tests.evaluator_cases.servers import MailFixture

_MAIL = "imap://ann:p%40ss@localhost:{port}"
_BOB = "From: Bob <bob@mail.test>"
_INLINE = "a abbr b bdi bdo big code em font i ins kbd mark s small span strong sub sup tt u var"
_WITHOUT_END = "area base br col embed hr img input link meta source wbr"
_HIDING = (
    "<head>{}</head>",
    "<noscript>{}</noscript>",
    "<TEMPLATE>{}</TEMPLATE>",
    "<title>{}</title>",
    "<script>{}",
    "<style>{}</style>",
    "<!--{}-->",
    "<!--{}",
    '<p style="color: red; display: none">{}</p>',
    "<p style=visibility:hidden>{}</p>",
    "<p STYLE='FONT-SIZE: 0px'>{}</p>",
    '<p style="opacity:0.00">{}</p>',
    '<p style="max-height:0">{}</p>',
    "<p hidden>{}</p>",
    "<p hidden=hidden id=a>{}</p>",
    "<div hidden><p>{}</div>",
    "<div hidden></p>{}</div>",
    *(
        f"<{name}>{{}}</{name}>"
        for name in ["audio", "canvas", "datalist", "dialog", "iframe", "object", "svg", "video"]
    ),
    "<font color='WHITE'>{}</font>",
    "<font color=#ffffff>{}</font>",
    *(
        f"<p style='{style}'>{{}}</p>"
        for style in (
            "visibility: collapse",
            "display: no\\6e e",
            "display: /* x */ none",
            "display&colon;none",
            "content: none",
            "filter: opacity(0)",
            "clip-path: inset(50%)",
            "mask: none",
            "transform: scale(0)",
            "width: 0; overflow: hidden",
            "height:0px",
            "max-width:0",
            "line-height:0",
            "text-indent: -9999px",
            "position: absolute; left: -99em",
            "color: white",
            "color: transparent",
            "color: #fff",
            "color: #ffff",
            "color: #FFFFFF",
            "color: rgb(255, 255, 255)",
            "color: rgba(0, 0, 0, 0)",
            "color: hsla(0, 0%, 0%, 0.0)",
        )
    ),
    "<style>.x {{ display: none }}</style><p class=x>{}</p>",
    "<style>p {{ color: white }}</style><p>{}</p>",
)
_DEEP = 600
"""Nesting levels that exceed the limit of every parser."""


def _mail(subject: str = "Lunch", text: str = "At noon?", **more: object) -> State:
    return lambda b: b.mail(subject, text, **more)


def _raw(*lines: str, flags: str = "") -> State:
    raw = "\r\n".join(lines).encode()
    return lambda b: b.folders["INBOX"].append((flags, raw))


def _page(html: str) -> State:
    return _mail(text=html, kind="text/html")


def _pages(pages: Sequence[str]) -> State:
    return lambda b: [_page(page.format("At noon?"))(b) for page in pages]


def _alternative(plain: str, html: str) -> State:
    """Add a message with plain text and HTML, of which programs display the HTML."""
    parts = [
        line
        for kind, text in (("plain", plain), ("html", html))
        for line in ("--b", f"Content-Type: text/{kind}; charset=utf-8", "", text)
    ]
    top = "Content-Type: multipart/alternative; boundary=b"
    return _raw(_BOB, "Subject: Lunch", "MIME-Version: 1.0", top, "", *parts, "--b--", "")


def _nested(b: MailFixture) -> None:
    lines = [_BOB, "Subject: Lunch"]
    for number in range(_DEEP):
        lines += [f"Content-Type: multipart/mixed; boundary=b{number}", "", f"--b{number}"]
    _raw(*lines, "", "At noon?")(b)


def _flags_last(b: MailFixture) -> None:
    b.flags_last = True
    b.mail("Lunch", flags="$Label1 \\Seen")
    b.mail("Dinner")
    b.mail("Lunch", flags="\\Seen")


def _flood(flags: str) -> State:
    """Add more messages after an old one than the evaluator reads."""

    def state(b: MailFixture) -> None:
        b.mail("Lunch")
        b.folders["INBOX"] += [("", b"Subject: x\r\n\r\n")] * 5000
        b.mail("Lunch", flags=flags)

    return state


def in_folder_cases() -> tuple[Case, ...]:
    """Return cases of `mail_in_folder`."""
    args: dict[str, Json] = {"account": _MAIL, "folder": "INBOX", "subject": "Lunch"}
    text: dict[str, Json] = {**args, "text": "At noon?"}
    sender: dict[str, Json] = {**args, "sender": "bob@mail.test"}
    return (
        forged("marked as deleted", _mail(flags="\\Seen \\Deleted"), **args),
        forged("first of two subjects", _mail("Lunch\r\nSubject: Dinner"), **args),
        forged("subject of an attached message", _raw("Subject: x", "", "Subject: Lunch"), **args),
        forged(
            "plain text that programs do not display",
            _alternative("At noon?", "<p>No.</p>"),
            **text,
        ),
        *(
            forged(
                f"HTML pages that hide the text, from {start}",
                _pages(_HIDING[start : start + 15]),
                **text,
            )
            for start in range(0, len(_HIDING), 15)
        ),
        forged("partly hidden text", _page("<p hidden>At</p> noon?"), **text),
        forged("without the space", _page("Atnoon?"), **text),
        forged("HTML nested too deep", _page("<b>" * 300 + "At noon?"), **text),
        forged("message parts nested too deep", _nested, **text),
        forged(
            "header that looks like deep nesting",
            _mail(head=(_BOB, "X-A:" + " Boundary" * 60)),
            **text,
        ),
        forged(
            "one of two senders",
            _mail(head=("From: bob@mail.test, eve@mail.test", "Sender: eve@mail.test")),
            **sender,
        ),
        forged("sender that breaks parsers", _mail(head=("From: bob@mail.test, <",)), **sender),
        forged(
            "expected sender only in Reply-To",
            _mail(head=("From: eve@mail.test", "Reply-To: bob@mail.test")),
            **sender,
        ),
        another_way("HTML without enclosing elements", _page("At noon?"), **text),
        another_way("HTML in upper case", _page("<P>At<BR><B>no</B>on?</P>"), **text),
        another_way(
            "HTML with paragraphs",
            _page("<div><p hidden>x</p><p>At</p><p>n<!-- x -->&#111;on?"),
            **text,
        ),
        another_way("HTML with a table", _page("<table><tr><td>At<td>noon?</table>"), **text),
        another_way(
            "inline elements within a word",
            _page(
                "At no"
                + "".join(f"<{name}></{name}>" for name in _INLINE.split())
                + "<img><wbr>on?"
            ),
            **text,
        ),
        another_way(
            "hidden void elements",
            _page("".join(f"<{name} hidden>" for name in _WITHOUT_END.split()) + "At noon?"),
            **text,
        ),
        another_way(
            "attributes that look like hidden text",
            _page(
                "<p title='is hidden now' style='opacity: 0.5'><b title=\"a hidden\">At noon?</b>"
            ),
            **text,
        ),
        *(
            another_way(f"HTML with {name}", _page(page), **text)
            for name, page in (
                (
                    "a style sheet of margins",
                    "<style>p { margin: 0px; min-height: 0 }</style><p>At noon?",
                ),
                ("coloured text", "<p style='color: #ffaa00; border-width:0'>At noon?"),
                ("a red font", "<font color=red>At noon?</font>"),
                ("an unrelated colour attribute", "<p color=white>At noon?"),
                ("invalid font attributes", "<font color=whiter face=white>At noon?</font>"),
                ("a text transform", "<p style='text-transform: none; height: 0.5em'>At noon?"),
                ("a shifted line", "<p style='margin-left: -4px; justify-content: left'>At noon?"),
                (
                    "a list item of Outlook",
                    "<p style='margin-left:36.0pt;text-indent:-18.0pt'>At noon?",
                ),
                ("a white background", "<p style='background-color:white'>At noon?"),
            )
        ),
        another_way("invisible characters", _page("At\u200b n\u00adoon?"), **text),
        another_way(
            "plain text and HTML",
            _alternative("At *noon*?", "<style>p{}</style><p>At <b>noon</b>?</p>"),
            **text,
        ),
        another_way(
            "flowed lines",
            _mail(text="At \r\nnoon?\r\n", kind="text/plain; format=flowed"),
            **text,
        ),
        another_way(
            "flowed lines with deleted spaces",
            _mail(text="At no \r\non?\r\n", kind="text/plain; format=flowed; delsp=Yes"),
            **text,
        ),
        another_way("line break instead of the space", _mail(text="At\r\nnoon?\r\n\r\n"), **text),
        another_way(
            "without a content type",
            _raw("From: bob@mail.test", "Subject: Lunch", "", "At noon?"),
            **text,
        ),
        another_way(
            "surrounding spaces in expected values",
            _mail(),
            **{**args, "sender": " Bob@mail.test ", "text": " "},
        ),
        another_way("empty expected sender", _mail(), **{**args, "sender": " "}),
        another_way(
            "a decomposed subject",
            _mail("Zu\u0308rich"),
            **{**args, "subject": "Zürich"},
        ),
        another_way(
            "next to a message that breaks parsers",
            lambda b: [state(b) for state in (_mail(), _nested)],
            **text,
        ),
    )


def sent_to_cases() -> tuple[Case, ...]:
    """Return cases of `mail_sent_to`."""
    args: dict[str, Json] = {"account": _MAIL, "folder": "INBOX", "subject": "Lunch"}
    to_bob: dict[str, Json] = {**args, "recipients": ["bob@mail.test"]}
    spaced: dict[str, Json] = {**args, "recipients": [" bob@mail.test "]}
    two: dict[str, Json] = {**args, "recipients": ["bob@mail.test", "eve@mail.test"]}

    def to(*lines: str, flags: str = "") -> State:
        return _mail(head=("From: ann@mail.test", *lines), flags=flags)

    return (
        forged("draft", to("To: bob@mail.test", flags="\\Draft"), **to_bob),
        forged("marked as deleted", to("To: bob@mail.test", flags="\\Deleted"), **to_bob),
        forged(
            "Bcc to a different recipient", to("To: bob@mail.test", "Bcc: eve@mail.test"), **to_bob
        ),
        forged("second To header", to("To: bob@mail.test", "To: eve@mail.test"), **to_bob),
        forged("resent message", to("To: eve@mail.test", "Resent-To: bob@mail.test"), **to_bob),
        forged("address list that breaks parsers", to("To: bob@mail.test, <"), **to_bob),
        forged(
            "address list over the limit",
            to("To: bob@mail.test" + ", bob@mail.test" * 200),
            **to_bob,
        ),
        another_way(
            "recipient in To and Cc",
            to("To: bob@mail.test", "Cc: Bob <BOB@mail.test>"),
            **spaced,
        ),
        another_way("address group", to("To: Friends: bob@mail.test, Eve <eve@mail.test>;"), **two),
        another_way(
            "encoded name and folded lines",
            to("To: =?utf-8?q?B=C3=B6b?=\r\n <bob@mail.test>,\r\n\teve@mail.test"),
            **two,
        ),
        another_way(
            "one recipient in To, one in Bcc", to("To: bob@mail.test", "Bcc: eve@mail.test"), **two
        ),
    )


def flagged_cases() -> tuple[Case, ...]:
    """Return cases of `mail_flagged`."""
    args: dict[str, Json] = {
        "account": _MAIL,
        "folder": "INBOX",
        "subject": "Lunch",
        "flag": "\\Seen",
    }
    return (
        forged("matching message marked as deleted", _mail(flags="\\Seen \\Deleted"), **args),
        forged("message older than the limit", _flood("\\Seen"), **args),
        forged("keyword with a similar name", _mail(flags="Seen $Seen"), **args),
        forged("flag only in headers", _mail(head=("Status: RO", "X-Flags: \\Seen")), **args),
        another_way(
            "additional copy marked as deleted",
            lambda b: (b.mail("Lunch", flags="\\Deleted"), b.mail("Lunch", flags="\\Seen")),
            **args,
        ),
        another_way("server that sends flags last", _flags_last, **args),
        another_way(
            "marked as deleted",
            _mail(flags="\\Deleted"),
            **{**args, "flag": "\\Deleted"},
        ),
        another_way(
            "message before one hundred others",
            lambda b: (_mail(flags="\\SEEN")(b), [b.mail(str(n)) for n in range(100)]),
            **args,
        ),
    )
