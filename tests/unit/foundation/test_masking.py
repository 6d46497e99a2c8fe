from __future__ import annotations

import pytest

from foundation import masking
from foundation.masking import hide_secrets, mask, redact


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
        ("none", "Your key is `none`, none other", "Your key is `***`, none other"),
        ("none", '{\\"api_key\\": \\"none\\"}', '{\\"api_key\\": \\"***\\"}'),
        ("sk-secret", r'{"content": "It is:\nsk-secret\n"}', r'{"content": "It is:\n***\n"}'),
        ("sk-secret", r'{"content": "\u201csk-secret\u201d"}', r'{"content": "\u201c***\u201d"}'),
        ("a/b+c/d+e/f+g/h+1", r'{"content": "a\/b+c\/d+e\/f+g\/h+1"}', '{"content": "***"}'),
        ("", "nothing to hide", "nothing to hide"),
    ],
)  # fmt: skip
def test_secrets_are_masked_and_other_text_is_not(secret: str, text: str, masked: str) -> None:
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
def test_passwords_in_addresses_are_masked(text: str, masked: str) -> None:
    assert mask(text) == masked


def test_secrets_are_masked_in_all_strings_of_a_value() -> None:
    redact("sk-secret")
    value = {"note": "sk-secret", "sk-secret": [("x", {"y": "a sk-secret"})], "n": 1, "none": None}
    hidden = {"note": "***", "***": [["x", {"y": "a ***"}]], "n": 1, "none": None}
    assert hide_secrets(value) == hidden
    assert hide_secrets(["http://me:pass@host"]) == ["http://me:pass@host"]
