"""The syntax of the destinations that tasks allow."""

from __future__ import annotations

import pytest

from foundation.errors import SpecError
from provisioning.egress.policy import Destination, read_destinations


def test_destinations_are_normalised() -> None:
    assert read_destinations(["Example.ORG.:443", "*.wiki.test:80", "[2001:DB8::0:1]:80"]) == (
        Destination("example.org", 443),
        Destination("*.wiki.test", 80),
        Destination("2001:db8::1", 80),
    )
    wild = Destination("*.wiki.test", 80)
    assert wild.covers("en.wiki.test", 80)
    assert not wild.covers("wiki.test", 80)
    assert not wild.covers("evilwiki.test", 80)


@pytest.mark.parametrize(
    "entry",
    [
        "example.org",
        "example.org:0",
        "example.org:70000",
        ":80",
        "*:443",
        "*.:443",
        "a.*.b:80",
        "http://a.test:80",
        "a.test:80=b.test:80",
        "a b:80",
        "x" * 64 + ".test:80",
        "a..test:80",
    ],
)
def test_invalid_destination_is_rejected(entry: str) -> None:
    with pytest.raises(SpecError, match=r"is not a destination|must have an IP address") as caught:
        read_destinations([entry])
    assert repr(entry) in str(caught.value)
