"""Where the client finds the service and its token."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mesocosm.client.address import find_address
from mesocosm.client.errors import AddressError, TokenError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("MESOCOSM_SERVER", "MESOCOSM_TOKEN", "MESOCOSM_SERVICE_PORT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MESOCOSM_STATE_DIR", str(tmp_path))
    (tmp_path / "service").mkdir()
    return tmp_path


def test_this_host_is_the_default(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (state / "service/token").write_text("secret\n")
    assert find_address().base == "http://127.0.0.1:9465"
    monkeypatch.setenv("MESOCOSM_SERVICE_PORT", "9500")
    address = find_address()
    assert (address.base, address.token) == ("http://127.0.0.1:9500", "secret")
    assert "secret" not in repr(address)


def test_environment_and_arguments_come_first(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (state / "service/token").write_text("secret")
    monkeypatch.setenv("MESOCOSM_SERVER", "https://bench.example.org:9465/")
    with pytest.raises(TokenError, match=r"bench\.example\.org"):  # never the token of this host
        find_address()
    monkeypatch.setenv("MESOCOSM_TOKEN", "other")
    assert find_address().token == "other"  # noqa: S105 - made up
    assert find_address().base == "https://bench.example.org:9465"
    assert find_address("http://localhost:1", "mine").token == "mine"  # noqa: S105 - made up


def test_missing_token_says_how_to_get_one() -> None:
    with pytest.raises(TokenError, match="service token add"):
        find_address()


def test_wrong_address_is_rejected() -> None:
    with pytest.raises(AddressError, match="https://HOST:PORT"):
        find_address("bench.example.org:9465", "x")


def test_address_of_the_api_is_rejected() -> None:
    with pytest.raises(AddressError, match=r"Use https://h:1\.$"):
        find_address("https://h:1/api/v1/", "x")
    assert find_address("https://h/bench", "x").base == "https://h/bench"


def test_token_is_stripped() -> None:
    assert find_address("http://h:1", " mine\n").token == "mine"  # noqa: S105 - made up


@pytest.mark.parametrize("token", ["ab secret", "secret\nX-Other: 1", "secr\u00e9t", "se\x07cret"])
def test_impossible_token_is_rejected_and_not_shown(
    token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESOCOSM_TOKEN", token)
    with pytest.raises(TokenError, match="Copy it again") as caught:
        find_address("http://h:1")
    shown = f"{caught.value} {caught.value!r}"
    assert not any(part in shown for part in (token, "secr", "cret", "X-Other"))
