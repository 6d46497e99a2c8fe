"""Host names of the sites of a world, below ``.example``, which no real one is (RFC 2606)."""

from __future__ import annotations

SHOP = "shop.example"
WIKI = "wiki.example"
MAPS = "maps.example"
NEWS = "news.example"
WEBMAIL = "mail.example"
CLOUD = "cloud.example"
CODE = "code.example"
DOCS = "docs.example"
PICTURES = "pictures.example"
HOSTS = (CLOUD, WEBMAIL, SHOP, WIKI, MAPS, CODE, DOCS, NEWS, PICTURES)
"""Names that a world answers to."""
