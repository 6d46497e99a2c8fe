"""Forged settings, and legitimate ones in other notations."""

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
        forged("a list that holds it", prints("['dark']"), **args),
        forged(
            "a text that looks like a list", prints("'[\"dark\",  1]'"), **{**args, "value": "dark"}
        ),
        forged("a text with more blanks", prints("'Sans  11'"), **{**args, "value": "Sans 11"}),
        forged(
            "a text that begins like a type",
            prints("'byte by  byte'"),
            **{**args, "value": "byte by byte"},
        ),
        forged("another number", prints("uint32 50"), **{**args, "value": "5"}),
        forged("a list of other texts", prints("['da', 'rk']"), **{**args, "value": "['da, rk']"}),
        another_way("a number without its type", prints("uint32 5"), **{**args, "value": "5"}),
        another_way("a number of a byte", prints("byte 0x05"), **{**args, "value": "0x05"}),
        another_way(
            "a list in other quotes", prints("['dark', 'x']"), **{**args, "value": '["dark","x"]'}
        ),
        another_way("an empty list", prints("@as []"), **{**args, "value": "[]"}),
        another_way("a tuple", prints("('xkb', 'ch')"), **{**args, "value": '("xkb", "ch")'}),
        another_way("a variant", prints("<'dark'>"), **{**args, "value": '<"dark">'}),
        another_way("a dictionary", prints("{'a': <1>}"), **{**args, "value": "{'a':<1>}"}),
        another_way("a text with an apostrophe", prints('"it\'s"'), **{**args, "value": "it's"}),
        another_way(
            "as it is printed, blanks and all",
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
            "in a database of the user's own",
            with_file("~/.config/dconf/mine", b"GVariant dark"),
            **args,
        ),
        forged("a text with quotes in it", prints("\"'dark'\""), **args),
        forged("a list that holds it", prints("['dark']"), **args),
        forged("a text for a number", prints("'5'"), **{**args, "value": "5"}),
        forged("a text with more blanks", prints("'a  b'"), **{**args, "value": "'a b'"}),
        forged("an escaped line break", prints(r"'a\nb'"), **{**args, "value": "'anb'"}),
        forged("a quote left open", prints("'dark"), **args),
        forged("of another type in a list", prints("[uint32 5]"), **{**args, "value": "[5]"}),
        forged("not set, blanks wanted", prints(""), **{**args, "value": " "}),
        forged("the name of a type alone", prints("byte "), **{**args, "value": "byte x"}),
        another_way("in other quotes", prints("'dark'"), **{**args, "value": '"dark"'}),
        another_way("an apostrophe, escaped", prints('"it\'s"'), **{**args, "value": r"'it\'s'"}),
        another_way("quotes, escaped", prints("'say \"x\"'"), **{**args, "value": r'"say \"x\""'}),
        another_way("a backslash", prints(r"'a\\'"), **{**args, "value": r'"a\\"'}),
        another_way("a number with its type", prints("int64 5"), **{**args, "value": " 5 "}),
        another_way("asked for with its type", prints("5"), **{**args, "value": "double 5"}),
        another_way("a list without blanks", prints("[1, 2]"), **{**args, "value": "[1,2]"}),
        another_way("an empty list", prints("@as []"), **{**args, "value": "[]"}),
        *(
            another_way(f"of type {name}", prints(f"{name} '/a'"), **{**args, "value": "'/a'"})
            for name in ("handle", "objectpath", "signature")
        ),
    )
