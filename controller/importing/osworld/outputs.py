"""OSWorld's functions for what commands print, where the command is known."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any

from controller.importing.errors import NotCarriedError
from controller.importing.osworld.job import DESKTOP, carries, check
from controller.importing.osworld.shell import without_session

if TYPE_CHECKING:
    from controller.importing.draft import Row
    from controller.importing.osworld.file import Judgement
    from controller.importing.osworld.job import Job

_TEST = re.compile(
    r"""^\[\s+-(?P<kind>[fd])\s+(?P<path>"[^"]+"|'[^']+'|\S+)\s+\]\s*&&\s*echo\s+(?P<yes>.+?)"""
    r"""\s*\|\|\s*echo\s+(?P<no>.+)$"""
)
_PRINTED = re.compile(r"^(?:u?int(?:16|32|64)|byte|double)\s+")
_CHECKS = {"f": "file_exists", "d": "directory_exists"}
_ZEROS = ("UTC", "GMT")
_OPPOSITE = {"true": "false", "false": "true"}
_OTHER_ZONE = (
    "ln -sfn /usr/share/zoneinfo/Asia/Tokyo /etc/localtime && echo Asia/Tokyo > /etc/timezone"
)
"""Our desktops start in UTC, OSWorld's do not."""


def _words(getter: dict[str, Any], function: str) -> list[str]:
    """Return the words of a command without shell syntax.

    Raises:
        NotCarriedError: the getter runs no command.
    """
    if getter.get("type") != "vm_command_line":
        raise NotCarriedError("getter", f"{function}: a result of the getter {getter.get('type')}")
    command = getter.get("command")
    if isinstance(command, list):
        return [str(word) for word in command]
    try:
        return shlex.split(without_session(str(command)))
    except ValueError as exc:
        raise _unknown(function, command) from exc


def _unknown(function: str, command: object) -> NotCarriedError:
    text = command if isinstance(command, str) else shlex.join(map(str, command or ()))  # type: ignore[call-overload]
    return NotCarriedError("output", f"{function}: the output of `{text[:80]}`")


@carries("exact_match")
def _exact(job: Job, judged: Judgement) -> list[Row]:
    wanted = job.rules(judged)["expected"]
    words = _words(judged.result, judged.function)
    match words:
        case ["gsettings", "get", schema, key]:
            value = _PRINTED.sub("", str(wanted).strip())
            value = value[1:-1] if re.fullmatch(r"'[^']*'", value) else value
            if value in _OPPOSITE:
                args = {"schema": schema, "key": key, "value": _OPPOSITE[value]}
                job.draft.prepare({"on": DESKTOP, "do": "set_gsetting", "with": args})
            return [check("gsetting_equals", schema=schema, key=key, value=value)]
        case ["ls", path]:
            return [check("directory_lists", path=path, names=str(wanted).splitlines())]
    return [_tested(judged, lambda text: text == str(wanted).strip())]


@carries("check_include_exclude")
def _included(job: Job, judged: Judgement) -> list[Row]:
    rules = job.rules(judged)
    include, exclude = rules.get("include", []), rules.get("exclude", [])

    def is_met(text: str) -> bool:
        return all(part in text for part in include) and all(part not in text for part in exclude)

    return [_tested(judged, is_met)]


def _tested(judged: Judgement, is_met: Any) -> Row:  # noqa: ANN401
    """Return the check that a command such as ``[ -f PATH ] && echo yes || echo no`` makes.

    Raises:
        NotCarriedError: it is another command, or does not tell both cases apart.
    """
    command = judged.result.get("command")
    if judged.result.get("type") != "vm_command_line":
        _words(judged.result, judged.function)
    text = without_session(command if isinstance(command, str) else "")
    match = _TEST.match(text.strip())
    if match is None:
        raise _unknown(judged.function, command)
    yes, no = (" ".join(shlex.split(match[name])) for name in ("yes", "no"))
    if not is_met(yes) or is_met(no):
        raise NotCarriedError("option", f"{judged.function}: expects that nothing is there")
    return check(_CHECKS[match["kind"]], path=shlex.split(match["path"])[0])


@carries("is_extension_installed")
def _listed(job: Job, judged: Judgement) -> list[Row]:
    rules = job.rules(judged)
    words = _words(judged.result, judged.function)
    name = str(rules.get("expected"))
    if words[:1] != ["ls"] or rules.get("type") != "contain" or words[2:] != ["|", "grep", name]:
        raise _unknown(judged.function, judged.result.get("command"))
    return [check("file_exists", path=f"{words[1].rstrip('/')}/{name}")]


@carries("check_moved_jpgs")
def _moved(job: Job, judged: Judgement) -> list[Row]:
    if judged.result.get("type") != "list_directory":
        raise NotCarriedError("getter", f"{judged.function}: {judged.result.get('type')}")
    names = [str(name) for name in job.rules(judged)["expected"]]
    return [check("directory_lists", path=str(judged.result["path"]), names=names)]


@carries("is_in_vm_clickboard")
def _copied(_: Job, judged: Judgement) -> list[Row]:
    """Carry over a function whose result and expectation are the other way round."""
    words = _words(judged.expected, judged.function)
    if words[:1] != ["xsel"] or "--output" not in words:
        raise _unknown(judged.function, judged.expected.get("command"))
    wanted = judged.result.get("rules", {}).get("expected")
    texts = wanted if isinstance(wanted, list) else [wanted]
    return [check("clipboard_contains", text=str(text)) for text in texts]


@carries("is_utc_0")
def _utc(job: Job, judged: Judgement) -> list[Row]:
    if _words(judged.result, judged.function)[:1] != ["timedatectl"]:
        raise _unknown(judged.function, judged.result.get("command"))
    job.draft.miss("extent", "is_utc_0: ours accepts UTC and GMT, not every zone with offset 0")
    args = {"command": _OTHER_ZONE, "user": "root"}
    job.draft.prepare({"on": DESKTOP, "do": "run", "with": args})
    first, *others = (check("timezone_is", zone=zone) for zone in _ZEROS)
    return [{**first, "or": others}]
