from __future__ import annotations

import configparser
from typing import TYPE_CHECKING

import pytest

from images.host import read_authorities, read_pip_conf, read_proxies

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("INDEX_URL", "EXTRA_INDEX_URL", "TRUSTED_HOST", "TIMEOUT", "PROXY", "CERT")
    for name in names:
        monkeypatch.delenv(f"PIP_{name}", raising=False)
    for name in ("http_proxy", "https_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def _read(raw: bytes) -> configparser.SectionProxy:
    conf = configparser.ConfigParser(interpolation=None)
    conf.read_string(raw.decode())
    return conf["global"]


def test_pip_index_settings_are_adopted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pem = tmp_path / "corporate.pem"
    pem.write_bytes(b"PEM")
    monkeypatch.setenv("PIP_CERT", str(pem))
    monkeypatch.setenv("PIP_INDEX_URL", "https://user:50%25@index.test/simple")
    conf = _read(read_pip_conf("/.host/authorities"))
    assert conf["index-url"] == "https://user:50%25@index.test/simple"
    assert conf["cert"] == "/.host/authorities"
    assert read_authorities() == b"PEM"


def test_local_folders_are_not_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "file:///srv/simple https://more.test/simple")
    assert _read(read_pip_conf("/x"))["extra-index-url"] == "https://more.test/simple"


def test_proxies_are_set_in_both_spellings(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_proxies() == {}
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.test:3128")
    assert read_proxies() == {
        "https_proxy": "http://proxy.test:3128",
        "HTTPS_PROXY": "http://proxy.test:3128",
    }
