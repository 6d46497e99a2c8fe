"""Forged settings, and legitimate ones in different notations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.testing.case import another_way, forged

if TYPE_CHECKING:
    from evaluators.testing.case import Case, State
    from provisioning.protocols import Json

_KEYFILE = "~/.config/glib-2.0/settings/keyfile"


def _file(path: str, content: str | bytes) -> State:
    return lambda b: b.write(path, content)


def gsetting_equals() -> tuple[Case, ...]:
    """Return cases of `gsetting_equals`."""
    args: dict[str, Json] = {"schema": "a.b", "key": "c", "value": "dark"}

    def prints(text: str) -> State:
        return lambda b: b.prints(["/usr/bin/gsettings", "get", "a.b", "c"], f"{text}\n")

    def with_file(path: str, content: str | bytes) -> State:
        return lambda b: (prints("'light'")(b), _file(path, content)(b))

    return (
        forged("in a file that no program reads", with_file(_KEYFILE, "[a/b]\nc='dark'\n"), **args),
        forged(
            "in a copy of the database",
            with_file("~/.config/dconf/user.old", b"GVariant dark"),
            **args,
        ),
        forged("list that contains the value", prints("['dark']"), **args),
        forged(
            "text that looks like a list", prints("'[\"dark\",  1]'"), **{**args, "value": "dark"}
        ),
        forged("text with additional spaces", prints("'Sans  11'"), **{**args, "value": "Sans 11"}),
        forged(
            "text that starts like a type name",
            prints("'byte by  byte'"),
            **{**args, "value": "byte by byte"},
        ),
        forged("different number", prints("uint32 50"), **{**args, "value": "5"}),
        forged(
            "list of different texts", prints("['da', 'rk']"), **{**args, "value": "['da, rk']"}
        ),
        another_way(
            "expected number without its type", prints("uint32 5"), **{**args, "value": "5"}
        ),
        another_way("byte value", prints("byte 0x05"), **{**args, "value": "0x05"}),
        another_way(
            "expected list in different quotes",
            prints("['dark', 'x']"),
            **{**args, "value": '["dark","x"]'},
        ),
        another_way("an empty list", prints("@as []"), **{**args, "value": "[]"}),
        another_way("a tuple", prints("('xkb', 'ch')"), **{**args, "value": '("xkb", "ch")'}),
        another_way("a variant", prints("<'dark'>"), **{**args, "value": '<"dark">'}),
        another_way("a dictionary", prints("{'a': <1>}"), **{**args, "value": "{'a':<1>}"}),
        another_way("text with an apostrophe", prints('"it\'s"'), **{**args, "value": "it's"}),
        another_way(
            "text with multiple spaces",
            prints("'Sans  11'"),
            **{**args, "value": "Sans  11"},
        ),
    )


def dconf_equals() -> tuple[Case, ...]:
    """Return cases of `dconf_equals`."""
    args: dict[str, Json] = {"key": "/a/b", "value": "'dark'"}

    def prints(text: str) -> State:
        return lambda b: b.prints(["/usr/bin/dconf", "read", "/a/b"], f"{text}\n")

    def with_file(path: str, content: str | bytes) -> State:
        return lambda b: (prints("")(b), _file(path, content)(b))

    return (
        forged("in a file that no program reads", with_file(_KEYFILE, "[a]\nb='dark'\n"), **args),
        forged(
            "in a user-created database",
            with_file("~/.config/dconf/mine", b"GVariant dark"),
            **args,
        ),
        forged("text that contains quotes", prints("\"'dark'\""), **args),
        forged("list that contains the value", prints("['dark']"), **args),
        forged("text instead of a number", prints("'5'"), **{**args, "value": "5"}),
        forged("text with additional spaces", prints("'a  b'"), **{**args, "value": "'a b'"}),
        forged("escaped line break", prints(r"'a\nb'"), **{**args, "value": "'anb'"}),
        forged("unclosed quote", prints("'dark"), **args),
        forged("different type in a list", prints("[uint32 5]"), **{**args, "value": "[5]"}),
        forged("not set, and expected value is a space", prints(""), **{**args, "value": " "}),
        forged("only the name of a type", prints("byte "), **{**args, "value": "byte x"}),
        another_way(
            "expected value in different quotes", prints("'dark'"), **{**args, "value": '"dark"'}
        ),
        another_way("escaped apostrophe", prints('"it\'s"'), **{**args, "value": r"'it\'s'"}),
        another_way("escaped quotes", prints("'say \"x\"'"), **{**args, "value": r'"say \"x\""'}),
        another_way("a backslash", prints(r"'a\\'"), **{**args, "value": r'"a\\"'}),
        another_way("number with its type", prints("int64 5"), **{**args, "value": " 5 "}),
        another_way("expected value with its type", prints("5"), **{**args, "value": "double 5"}),
        another_way("expected list without spaces", prints("[1, 2]"), **{**args, "value": "[1,2]"}),
        another_way("an empty list", prints("@as []"), **{**args, "value": "[]"}),
        *(
            another_way(f"of type {name}", prints(f"{name} '/a'"), **{**args, "value": "'/a'"})
            for name in ("handle", "objectpath", "signature")
        ),
    )
