"""URLs of tasks: wrong ones are reported when a suite is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from evaluators.catalogue import builtin_evaluators
from evaluators.desktop.urls import page_spellings, page_url

if TYPE_CHECKING:
    from evaluators.schema import Fault
    from provisioning.protocols import Json


def faults(check: str, **args: Json) -> list[Fault]:
    return builtin_evaluators()["desktop"][check].faults(args)


@pytest.mark.parametrize(
    ("check", "args", "message"),
    [
        ("firefox_visited", {"url": "//find"}, "does not begin with a scheme, such as http://"),
        ("firefox_visited", {"url": "http://news.test//find"}, "empty name"),
        ("firefox_tab_open", {"url": "news.test"}, "scheme"),
        ("firefox_bookmarked", {"url": "http://news.test:99999/"}, "wrong port '99999'"),
        ("firefox_downloaded", {"url": "http:///a", "path": "~/a"}, "no host"),
        ("http_status_is", {"url": "ftp://a.test/", "status": 200}, "not an HTTP URL"),
        ("http_title_is", {"url": "http://a b/", "title": "x"}, "wrong host"),
        ("calendar_lacks_event", {"calendar": "dav.test/a/", "summary": "x"}, "scheme"),
        ("address_book_has", {"address_book": "http://x:y@/", "name": "x"}, "no host"),
        ("mail_in_folder", {"account": "http://a.test/", "folder": "x", "subject": "x"}, "imap://"),
    ],
)
def test_wrong_url_is_reported_for_its_argument(
    check: str, args: dict[str, Any], message: str
) -> None:
    (fault,) = faults(check, **args)
    assert fault.argument == next(iter(args))
    assert message in fault.message


@pytest.mark.parametrize(
    "url",
    ["http://news.test", "HTTP://News.test:80/caf\u00e9?q=a b+c", "about:home", "file:///srv/a b.html"],
)  # fmt: skip
def test_url_that_browsers_normalise_is_accepted(url: str) -> None:
    assert faults("firefox_visited", url=url) == []


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("http://a.test/%7e/%c3%a9", "http://a.test/%7e/%c3%a9"),
        ("http://a.test/a/..", "http://a.test/"),
        ("http://a.test/a/%2E%2e/b/.", "http://a.test/b/"),
        ("http://a.test/../../b", "http://a.test/b"),
        ("http://a.test/a//b", "http://a.test/a//b"),
        ("http://a.test/`{}|", "http://a.test/%60%7B%7D|"),
        ("http://a.test/?a='b'&c=`", "http://a.test/?a=%27b%27&c=`"),
        ("http://a.test/?a?b#c?d#e", "http://a.test/?a?b#c?d#e"),
        ("http://a.test#x", "http://a.test/#x"),
        ("http://a.test?", "http://a.test/?"),
        ("http://a.test:08080/", "http://a.test:8080/"),
        ("http://[::1]:80/", "http://[::1]/"),
        ("http://ann:p%40s@a.test/", "http://ann:p%40s@a.test/"),
        ("http://M\u00dcNCHEN.test/", "http://xn--mnchen-3ya.test/"),
    ],
)
def test_url_is_normalised_as_by_browsers(url: str, normal: str) -> None:
    assert page_url(url) == normal
    assert page_url(normal) == normal


def test_spaces_are_spelled_both_ways_only_in_the_query() -> None:
    assert set(page_spellings("http://a.test/a+b?q=c d+e#f+g")) == {
        "http://a.test/a+b?q=c%20d+e#f+g",
        "http://a.test/a+b?q=c+d+e#f+g",
        "http://a.test/a+b?q=c%20d%20e#f+g",
    }
    assert page_spellings("http://a.test/#a?b+c") == ("http://a.test/#a?b+c",)
