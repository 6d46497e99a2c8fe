"""Bad ``image.yaml`` files: each error names file and line, and what to do."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from foundation.errors import SpecError
from foundation.yaml_source import parse_yaml
from images.custom.checks import check_lineage
from images.custom.declaration import ImageFile, json_schema
from images.custom.folder import read_lineage
from images.custom.steps import ACTIONS

PACKAGES = frozenset({"gimp", "inkscape", "mtpaint", "tuxpaint", "vim", "xpaint"})
HEAD = "schema_version: 1\nname: paint\nextends: ubuntu-22.04\n"
EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@dataclass(frozen=True)
class Bad:
    """A bad file.

    Attributes:
        text: content of ``image.yaml``.
        line: line of the error.
        expected: parts of its text.
        files: other files in the folder, by name; a name may lead to a sibling folder.
        free_mib: free disk space.
    """

    text: str
    line: int
    expected: tuple[str, ...]
    files: dict[str, bytes] = field(default_factory=dict)
    free_mib: int = 100_000


BAD = {
    "unknown-key": Bad(f"{HEAD}pakages: [vim]\n", 4, ("no key 'pakages'", "Known: ")),
    "unknown-key-in-a-step": Bad(
        f"{HEAD}steps:\n  - pakages: [vim]\n", 5, ("'pakages'", "mean 'packages'")
    ),
    "screen-that-is-no-picture": Bad(HEAD, 2, ("screen.png", "not a PNG"), {"screen.png": b"x"}),
    "no-version": Bad("name: paint\nextends: debian-12\n", 1, ("schema_version: 1",)),
    "unknown-version": Bad(HEAD.replace("1\n", "7\n", 1), 1, ("schema_version is 7", "reads 1")),
    "no-parent": Bad("schema_version: 1\nname: paint\n", 1, ("'extends' is missing",)),
    "unknown-parent": Bad(
        HEAD.replace("ubuntu-22.04", "ubuntu-22.4"), 3, ("'ubuntu-22.4'", "'ubuntu-22.04'")
    ),
    "unknown-parent-folder": Bad(HEAD.replace("ubuntu-22.04", "../ofice"), 3, ("no image.yaml",)),
    "extends-itself": Bad(HEAD.replace("ubuntu-22.04", "."), 3, ("paint → paint", "Extend a")),
    "cycle": Bad(
        HEAD.replace("ubuntu-22.04", "../other"),
        3,
        ("other/image.yaml:3", "paint → other → paint", "Extend a shipped desktop"),
        {"../other/image.yaml": b"schema_version: 1\nname: other\nextends: ../bad\n"},
    ),
    "reserved-name": Bad(HEAD.replace("paint", "debian-12"), 2, ("shipped image", "another name")),
    "name-with-spaces": Bad(HEAD.replace("paint", "My Paint"), 2, ("'My Paint'", "single hyphens")),
    "missing-file": Bad(
        f"{HEAD}steps:\n  - files:\n      - {{from: note.txt, to: /home/user/note.txt}}\n",
        6,
        ("no note.txt", "'notes.txt'"),
        {"notes.txt": b"1"},
    ),
    "file-outside": Bad(
        f"{HEAD}steps:\n  - fonts: [../font.ttf]\n", 5, ("'../font.ttf'", "inside the image's")
    ),
    "relative-destination": Bad(
        f"{HEAD}steps:\n  - files: [{{from: a, to: Documents/a}}]\n",
        5,
        ("'Documents/a'", "absolute path"),
        {"a": b""},
    ),
    "wrong-digest": Bad(
        f"{HEAD}steps:\n  - debs:\n      - file: app.deb\n        sha256: {EMPTY}\n",
        7,
        ("the SHA-256 of app.deb is ", f"not {EMPTY}", "write its digest here"),
        {"app.deb": b"x"},
    ),
    "no-debian-package": Bad(
        f"{HEAD}steps:\n  - debs:\n      - file: app.deb\n        sha256: {EMPTY}\n",
        6,
        ("app.deb is not a Debian package",),
        {"app.deb": b""},
    ),
    "unreadable-archive": Bad(
        f"{HEAD}steps:\n  - archives: [{{file: app.tar.gz, sha256: {EMPTY}, to: /opt/app}}]\n",
        5,
        ("app.tar.gz cannot be read",),
        {"app.tar.gz": b""},
    ),
    "unknown-package": Bad(
        f"{HEAD}steps:\n  - packages:\n      - vim\n      - mtpant\n",
        7,
        ("no package 'mtpant'", "'mtpaint'"),
    ),
    "two-actions": Bad(
        f"{HEAD}steps:\n  - packages: [vim]\n    run: 'true'\n", 5, ("exactly one", "'packages'")
    ),
    "user-without-command": Bad(
        f"{HEAD}steps:\n  - packages: [vim]\n    as: user\n", 5, ("'as' is only for 'run'",)
    ),
    "setting-without-type": Bad(
        f"{HEAD}steps:\n  - settings:\n      org.gnome.desktop.interface:\n        scale: [1, 2]\n",
        7,
        ("[1, 2]", "gvariant"),
    ),
    "unknown-timezone": Bad(f"{HEAD}timezone: Europe/Berln\n", 4, ("'Europe/Berlin'",)),
    "small-disk": Bad(f"{HEAD}machine:\n  disk_gib: 2\n", 5, ("disk_gib", "12")),
    "odd-screen": Bad(f"{HEAD}machine:\n  screen: 1283x800\n", 5, ("1283x800", "multiple of 8")),
    "no-disk-space": Bad(
        f"{HEAD}machine:\n  disk_gib: 16\n",
        5,
        ("needs 9000 MiB", "100 MiB are free", "MESOCOSM_STATE_DIR"),
        free_mib=100,
    ),
    "two-conditions": Bad(
        f"{HEAD}session:\n  ready:\n    - {{window: a, process: b}}\n", 6, ("exactly one",)
    ),
    "broken-test": Bad(HEAD, 2, ("test_it.py:2", "valid Python"), {"test_it.py": b"\ndef f(:\n"}),
    "not-yaml": Bad(f"{HEAD}steps: [\n", 5, ("not valid YAML", "brackets")),
    "a-list": Bad("- name: paint\n", 1, ("expected keys and values", "Known: ")),
}


def write(folder: Path, text: str | bytes, files: dict[str, bytes]) -> Path:
    """Write the folder of an image and return it."""
    own = folder / "bad"
    own.mkdir()
    (own / "image.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    for name, content in files.items():
        path = own / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    return own


def check(folder: Path, free_mib: int = 100_000) -> None:
    lineage = read_lineage(folder, lambda _name: None)
    check_lineage(lineage, PACKAGES, free_mib=free_mib, needed_mib=9000)


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_refused_with_line_and_cure(name: str, tmp_path: Path) -> None:
    bad = BAD[name]
    folder = write(tmp_path, bad.text, bad.files)
    with pytest.raises(SpecError) as caught:
        check(folder, bad.free_mib)
    text = str(caught.value)
    assert f":{bad.line}: " in caught.value.brief
    assert [part for part in bad.expected if part not in text] == []


GOOD = f"""\
{HEAD}description: all keys
steps:
  - title: the program
    packages: [mtpaint, vim=2:8.2]
  - files:
      - {{from: note.txt, to: /home/user/Documents/note.txt, owner: user, mode: "0600"}}
  - pip: [requests, "rich>=13"]
  - run: echo done
    as: user
  - settings:
      org.gnome.desktop.interface:
        color-scheme: prefer-dark
        text-scaling-factor: 1.25
        locate-pointer: true
        toolkit: [a, b]
        font-hinting: {{gvariant: "uint32 5"}}
  - fonts: [f.ttf]
  - archives: [{{file: a.tar, sha256: {"0" * 64}, to: /opt/app, strip: 1, owner: user}}]
  - data:
      documents: note.txt
      bookmarks: [{{title: Wiki, url: "https://wiki.test/"}}]
      profiles: {{.config/app: profile}}
session:
  start: [mtpaint]
  run: [{{run: "true", as: root, timeout_s: 5}}]
  ready: [{{window: mtPaint}}, {{process: mtpaint}}, {{file: /etc/passwd}}, {{command: "true"}}]
  timeout_s: 60
machine: {{memory_mib: 2048, cpus: 2, disk_gib: 16, screen: 1920x1080}}
locale: de_DE.UTF-8
timezone: Europe/Berlin
"""


def test_a_file_with_all_keys_is_read(tmp_path: Path) -> None:
    lineage = read_lineage(write(tmp_path, GOOD, {}), lambda _name: None)
    own = lineage.own.content
    assert [step.action for step in own.steps] == [
        *("packages", "files", "pip", "run", "settings", "fonts", "archives", "data")
    ]
    assert own.steps[1].files[0].effective_owner == "user"
    assert own.machine.screen == "1920x1080"
    assert lineage.shipped == "ubuntu-22.04"


def mutate(text: str, chance: random.Random) -> bytes:
    """Return a text with a few random mistakes: lines and tokens changed, moved, doubled, cut."""
    lines = text.splitlines()
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(lines))
        line = lines[at]
        match chance.randrange(8):
            case 0:
                del lines[at]
            case 1:
                lines.insert(chance.randrange(len(lines)), line)
            case 2:
                lines[at] = " " * chance.randint(0, 6) + line.strip()
            case 3:
                cut = chance.randrange(len(line) + 1)
                junk = chance.choice(
                    ["[", "}", ": ", "\0", "&a *a", "!!python/name:os.system", "é"]
                )
                lines[at] = line[:cut] + junk + line[cut:]
            case 4:
                value = chance.choice(
                    ["null", "[]", "{}", "-1", "1e400", "yes", "../..", "/", "''"]
                )
                lines[at] = f"{line.partition(':')[0]}: {value}"
            case 5:
                other = chance.choice(lines)
                lines[at] = f"{line.partition(':')[0]}:{other.partition(':')[2]}"
            case 6:
                lines[at] = line.replace(chance.choice("aeiou01"), chance.choice("xyz9.-"))
            case _:
                lines = lines[: max(1, at)]
        lines = lines or [""]
    raw = "\n".join(lines).encode()
    if chance.random() < 0.1:
        cut = chance.randrange(len(raw) + 1)
        raw = raw[:cut] + bytes([chance.randrange(256)]) + raw[cut:]
    return raw


def is_refused(folder: Path) -> bool:
    """Return whether a file is refused, after checking that the error names it; nothing else is raised."""
    try:
        check(folder)
    except SpecError as exc:
        text = str(exc)
    else:
        return False
    assert "image.yaml:" in text
    return True


@pytest.mark.slow
def test_damaged_files_are_refused_without_a_traceback(tmp_path: Path) -> None:
    files = {"note.txt": b"", "f.ttf": b"", "profile/a": b""}
    refused = 0
    for seed in range(100):
        (tmp_path / str(seed)).mkdir()
        text = mutate(GOOD, random.Random(seed))  # noqa: S311
        refused += is_refused(write(tmp_path / str(seed), text, files))
    assert refused >= 90  # the others are shorter, but valid


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["from", "to", "run", "as", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)
KEYS = tuple(ImageFile.model_fields)


@pytest.mark.slow
@given(
    top=st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=4),
    steps=st.lists(st.dictionaries(st.sampled_from(ACTIONS), VALUES, max_size=2), max_size=3),
)
@settings(max_examples=100)
def test_values_of_any_type_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, top: dict[str, object], steps: list[object]
) -> None:
    content = {"schema_version": 1, "name": "x", "extends": "debian-12", "steps": steps, **top}
    folder = tmp_path_factory.mktemp("image")
    is_refused(write(folder, json.dumps(content), {}))


def test_the_published_schema_is_current_and_accepts_what_is_read() -> None:
    page = Path(__file__).resolve().parents[4] / "docs/image.schema.json"
    assert json.loads(page.read_text()) == json_schema()
    validator = Draft202012Validator(json_schema())
    assert list(validator.iter_errors(parse_yaml(GOOD))) == []
    wrong = parse_yaml(BAD["two-actions"].text)
    assert list(validator.iter_errors(wrong)) != []
