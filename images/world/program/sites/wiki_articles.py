"""Articles of the encyclopaedia, from Debian's iso-codes: countries, their parts, currencies, languages."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

COUNTRIES, CURRENCIES, LANGUAGES = "List of countries", "List of currencies", "List of languages"


@dataclass(frozen=True)
class Article:
    """An article.

    Attributes:
        title: its title, unique.
        summary: first sentence.
        facts: rows of the box beside the text.
        tables: titles of further sections, and their rows of name and code.
        links: titles of articles under a heading.
    """

    title: str
    summary: str
    facts: dict[str, str] = field(default_factory=dict)
    tables: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    links: dict[str, list[str]] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Return everything in it that a search finds."""
        cells = [cell for rows in self.tables.values() for row in rows for cell in row]
        return " ".join([self.title, self.summary, *self.facts.values(), *cells])


class Encyclopaedia:
    """All articles.

    Args:
        folder: folder of the JSON files of iso-codes.
    """

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)
        self.articles: dict[str, Article] = {}
        parts = self._read_parts()
        countries = [self._country(row, parts) for row in self._read("3166-1")]
        currencies = [_currency(row) for row in self._read("4217")]
        languages = [_language(row) for row in self._read("639-2") if "alpha_2" in row]
        for title, found in (
            (COUNTRIES, countries),
            (CURRENCIES, currencies),
            (LANGUAGES, languages),
        ):
            titles = sorted({article.title for article in found})
            about = f"This list has {len(titles)} entries."
            self._add(Article(title, about, links={"Articles": titles}))
            for article in found:
                self._add(article)
        self._texts = {title: article.text.casefold() for title, article in self.articles.items()}

    def search(self, words: str) -> list[Article]:
        """Return articles that have all words, first those that have them in the title."""
        wanted = words.casefold().split()
        found = [
            self.articles[title]
            for title, text in self._texts.items()
            if wanted and all(word in text for word in wanted)
        ]
        return sorted(
            found,
            key=lambda article: (
                not all(word in article.title.casefold() for word in wanted),
                article.title,
            ),
        )

    def _add(self, article: Article) -> None:
        self.articles.setdefault(article.title, article)

    def _read(self, standard: str) -> list[dict[str, Any]]:
        return list(json.loads((self._folder / f"iso_{standard}.json").read_text())[standard])

    def _read_parts(self) -> dict[str, dict[str, list[tuple[str, str]]]]:
        """Return the parts of each country by their type, as name and code."""
        parts: dict[str, dict[str, list[tuple[str, str]]]] = defaultdict(lambda: defaultdict(list))
        for row in self._read("3166-2"):
            parts[row["code"].partition("-")[0]][row["type"]].append((row["name"], row["code"]))
        return parts

    def _country(
        self, row: dict[str, Any], parts: dict[str, dict[str, list[tuple[str, str]]]]
    ) -> Article:
        name = row.get("common_name", row["name"])
        kinds = {kind: sorted(rows) for kind, rows in sorted(parts[row["alpha_2"]].items())}
        count = sum(map(len, kinds.values()))
        official = row.get("official_name", row["name"])
        about = f"{name}, officially {official}, is a country or territory with the code {row['alpha_3']}."
        if count:
            about += f" It has {count} parts with codes of their own."
        facts = {
            "Official name": official,
            "Code of two letters": row["alpha_2"],
            "Code of three letters": row["alpha_3"],
            "Numeric code": row["numeric"],
        }
        return Article(name, about, facts, tables=kinds)


def _currency(row: dict[str, Any]) -> Article:
    code = row["alpha_3"]
    facts = {"Code": code, "Numeric code": row["numeric"]}
    return Article(row["name"], f"{row['name']} is a currency with the code {code}.", facts)


def _language(row: dict[str, Any]) -> Article:
    name = f"{row['name'].partition(';')[0]} (language)"
    facts = {"Code of two letters": row["alpha_2"], "Code of three letters": row["alpha_3"]}
    return Article(name, f"{name} has the code {row['alpha_2']}.", facts)
