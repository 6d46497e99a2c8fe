from __future__ import annotations

import pytest

from appliance.base import masking
from appliance.base.masking import mask, redact


@pytest.fixture(autouse=True)
def _no_other_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(masking, "_secrets", {})


@pytest.mark.parametrize(
    ("secret", "text", "masked"),
    [
        ("sk-0123456789abcdef", "asked with xsk-0123456789abcdefx", "asked with x***x"),
        ("sk-secret", "Incorrect key: sk-secret.", "Incorrect key: ***."),
        ("password", "passwords; my password-file; password", "passwords; my password-file; ***"),
        ("test", "the latest test of test", "the latest test of test"),
        ("test", "Incorrect API key provided: test. A test.", "Incorrect API key provided: ***. A test."),
        ("none", "Authorization: Bearer none, none left", "Authorization: Bearer ***, none left"),
        ("e", "every word stays as it is", "every word stays as it is"),
        ("", "nothing to hide", "nothing to hide"),
    ],
)  # fmt: skip
def test_a_secret_is_hidden_and_other_words_are_not(secret: str, text: str, masked: str) -> None:
    redact(secret)
    assert mask(text) == masked


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("at http://me:pass%40word@host/v1.", "at http://***@host/v1."),
        ("at http://me:p@ss@host:80/v1", "at http://***@host:80/v1"),
        ("http://host/mail?to=me@example.org", "http://host/mail?to=me@example.org"),
        ('{"at":"http://host","to":"me@example.org"}', '{"at":"http://host","to":"me@example.org"}'),
    ],
)  # fmt: skip
def test_passwords_in_addresses_are_hidden(text: str, masked: str) -> None:
    assert mask(text) == masked
