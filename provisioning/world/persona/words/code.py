"""What repositories, their issues and news are made of."""

from __future__ import annotations

PROJECTS = (
    ("tide-table", "Computes tides for small harbours", "Python"),
    ("seedling", "Keeps a garden diary", "Python"),
    ("ledgerline", "Plain accounts in text files", "Rust"),
    ("paperboy", "Collects newsletters into one page", "Python"),
    ("quickmap", "Draws maps from lists of places", "JavaScript"),
    ("inkwell", "An editor for long notes", "JavaScript"),
    ("brewlog", "Records coffee and how it was made", "Python"),
    ("stepcount", "Counts steps from a phone's sensors", "Rust"),
    ("choirbook", "Sheet music on tablets", "JavaScript"),
    ("lantern", "Controls lamps from a terminal", "Rust"),
    ("weatherwall", "A screen with tomorrow's weather", "Python"),
    ("postmark", "Sorts mail by rules in a file", "Rust"),
    ("bikerack", "Finds free places for bicycles", "JavaScript"),
    ("recipebox", "Recipes with quantities that scale", "Python"),
    ("trainspot", "Departures of one station", "JavaScript"),
    ("shelfmark", "A catalogue for small libraries", "Python"),
    ("mosaic-kit", "Puts photos together to a picture", "Rust"),
    ("quiet-hours", "Mutes devices by the calendar", "Python"),
)
"""Name, description and language of projects."""
LANGUAGES = {"Python": ("py", "#"), "Rust": ("rs", "//"), "JavaScript": ("js", "//")}
"""Suffix of files, and mark of comments, by language."""
LINES = {
    "Python": (
        "import json", "from pathlib import Path", "LIMIT = 40", "def load(path): return json.loads(Path(path).read_text())",
        "def total(rows): return sum(row['amount'] for row in rows)", "print(total(load('data.json')))",
    ),
    "Rust": (
        "use std::fs;", "const LIMIT: usize = 40;", "fn total(rows: &[u64]) -> u64 { rows.iter().sum() }",
        "fn read(path: &str) -> String { fs::read_to_string(path).unwrap() }", 'fn main() { println!("{}", total(&[1, 2])); }',
    ),
    "JavaScript": (
        "const LIMIT = 40;", "const total = (rows) => rows.reduce((sum, row) => sum + row.amount, 0);",
        "export const load = async (url) => (await fetch(url)).json();", "console.log(total([{ amount: 1 }]));",
        "export default total;",
    ),
}  # fmt: skip
OPTIONS = (
    ("timeout", "30", "Seconds to wait for an answer."),
    ("retries", "3", "How often a request is repeated."),
    ("color", "auto", "Whether output is coloured: auto, always or never."),
    ("cache", "on", "Whether answers are kept on disk."),
    ("log-level", "info", "How much is logged: debug, info or error."),
    ("port", "8420", "Where the server listens."),
    ("units", "metric", "Units of measurement: metric or imperial."),
    ("workers", "4", "Number of processes."),
    ("format", "table", "Format of output: table, json or csv."),
    ("backup", "daily", "How often a copy is made."),
)
"""Name, default and description of options."""
TOPICS = (
    "time zones", "empty files", "large folders", "names with accents", "the dark theme", "slow networks",
    "the search", "the export to CSV", "keyboard shortcuts", "old configuration files",
)  # fmt: skip
COMPLAINTS = (
    "Crash with",
    "Wrong result for",
    "Please support",
    "Confusing message about",
    "Test fails because of",
)
REPORTS = (
    "It worked in the last version. The steps are in the README.",
    "I expected another result; the log shows no error.",
    "This would help people who use it every day.",
    "It happens about once in ten times.",
)
REPLIES = (
    "Thank you, I can see it here, too.",
    "Which version do you use?",
    "A change for this would be welcome.",
    "This is fixed on the main branch.",
)
SECTIONS = ("Local", "Business", "Culture", "Sport", "Science")
AUTHORS = ("M. Arden", "J. Falk", "R. Osei", "L. Moreau", "T. Brandt", "S. Ikeda")
HEADLINES = (
    "new playground opens", "road works begin on Monday", "choir looks for voices", "market moves to the square",
    "record number of visitors", "school gets solar panels", "council discusses budget", "swimming pool reopens",
    "fire brigade turns 150", "theatre shows comedy",
)  # fmt: skip
LEADS = (
    "{title}: people in {town} had waited for this for a long time.",
    "The news came on a quiet morning in {town}: {title}.",
    "{town} has something to talk about. {title}.",
)
DETAILS = (
    "According to the council, {figure} people took part.",
    "It costs {figure} thousand, of which half is paid by the region.",
    "In {town} the work takes {figure} days.",
    "\u201cWe are glad about it,\u201d said a neighbour.",
    "Opponents in {town} had collected {figure} signatures.",
    "The next meeting is open to everybody.",
)
