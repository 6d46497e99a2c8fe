"""Host names of the sites of a world, below ``.example``, which no real one is (RFC 2606)."""

from __future__ import annotations

SHOP = "shop.example"
WIKI = "wiki.example"
MAPS = "maps.example"
NEWS = "news.example"
WEBMAIL = "mail.example"
CLOUD = "cloud.example"
HOSTS = (CLOUD, WEBMAIL, SHOP, WIKI)
"""Names that a world answers to: files, calendars and contacts; mail; sites."""
