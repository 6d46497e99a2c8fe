from __future__ import annotations

import re
from pathlib import Path

from images.phone.device.commands.providers import PROVIDERS

PAGE = Path(__file__).resolve().parents[4] / "docs/phone.md"


def test_the_page_lists_the_columns_of_every_provider() -> None:
    section = PAGE.read_text().partition("## Content providers")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*`) \| (`.*`) \|$", section, flags=re.MULTILINE)
    listed = {
        uri: tuple(re.findall(r"`(.*?)`", columns))
        for uris, columns in rows
        for uri in re.findall(r"`(.*?)`", uris)
        if "…" not in uri
    }
    assert listed == {uri: provider.columns for uri, provider in PROVIDERS.items()}
