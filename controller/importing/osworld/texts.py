"""OSWorld's functions for text files, and for settings and data in files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from controller.importing.errors import NotCarriedError
from controller.importing.osworld.job import carries, check

if TYPE_CHECKING:
    from pathlib import Path

    from controller.importing.draft import Row
    from controller.importing.osworld.file import Judgement
    from controller.importing.osworld.job import Job

_MAX_BYTES = 256 << 10
_REGISTRY = "{http://openoffice.org/2001/registry}"
_VLC_DEFAULTS = {
    "play-and-exit": "0",
    "qt-bgcone": "1",
    "qt-max-volume": "125",
    "qt-minimal-view": "0",
    "one-instance-when-started-from-file": "1",
}
"""Values that OSWorld assumes if VLC's file has none."""


def _text_of(path: Path, function: str) -> str:
    try:
        data = path.read_bytes()
        text = data.decode()
    except (OSError, UnicodeDecodeError) as exc:
        raise NotCarriedError("file", f"{function}: {path.name} is no text in UTF-8") from exc
    if len(data) > _MAX_BYTES:
        raise NotCarriedError("option", f"{function}: {path.name} is too long for a task's file")
    return text


@carries("compare_text_file", "diff_text_file", "compare_python_pure_text")
def _text(job: Job, judged: Judgement) -> list[Row]:
    for name in ("ignore_blanks", "ignore_case"):
        if judged.options.get(name):
            text = f"{judged.function}: {name} is on; ours compares white space and letter case"
            job.draft.miss("extent", text)
    text = _text_of(job.reference(judged), judged.function)
    return [check("file_text_equals", path=job.path(judged), text=text)]


@carries("compare_csv")
def _csv(job: Job, judged: Judgement) -> list[Row]:
    if judged.options.get("ignore_case") or not judged.options.get("strict", True):
        text = "compare_csv: an option accepts more; ours compares white space and letter case"
        job.draft.miss("extent", text)
    return _text(job, judged)


@carries("compare_result_files")
def _result(job: Job, judged: Judgement) -> list[Row]:
    text = _text_of(job.reference(judged), judged.function)
    try:
        float(text.strip())
    except ValueError:
        return [check("file_text_equals", path=job.path(judged), text=text.strip())]
    raise NotCarriedError("option", f"{judged.function}: a number within a text")


@carries("file_contains")
def _contains(job: Job, judged: Judgement) -> list[Row]:
    texts = job.rules(judged)["expected"]
    return [check("file_text_contains", path=job.path(judged), text=str(text)) for text in texts]


@carries("check_json")
def _json(job: Job, judged: Judgement) -> list[Row]:
    rules = job.rules(judged)
    if judged.options.get("is_yaml"):
        raise NotCarriedError("option", "check_json: is_yaml")
    if rules.get("unexpect"):
        raise NotCarriedError("option", "check_json: unexpect")
    rows = []
    for rule in rules.get("expect", []):
        if rule.get("method") != "eq":
            raise NotCarriedError("option", f"check_json: the method {rule.get('method')}")
        rows.append(_value_at(job.path(judged), rule["key"], rule["ref"]))
    return rows


def _value_at(path: str, keys: list[str], value: object) -> Row:
    parts = (str(key).replace("~", "~0").replace("/", "~1") for key in keys)
    pointer = "".join(f"/{part}" for part in parts)
    return check("json_value_equals", path=path, pointer=pointer, value=value)


@carries("check_json_settings")
def _json_settings(job: Job, judged: Judgement) -> list[Row]:
    wanted = job.rules(judged)["expected"]
    return [_value_at(job.path(judged), [key], value) for key, value in wanted.items()]


@carries("compare_config")
def _config(job: Job, judged: Judgement) -> list[Row]:
    try:
        wanted = json.loads(str(job.rules(judged)["expected"]))
    except json.JSONDecodeError:
        wanted = None
    if not isinstance(wanted, dict):
        raise NotCarriedError("option", "compare_config: what is expected is no JSON object")
    return _leaves(job.path(judged), [], wanted)


def _leaves(path: str, keys: list[str], value: object) -> list[Row]:
    if isinstance(value, dict) and value:
        return [row for key, part in value.items() for row in _leaves(path, [*keys, key], part)]
    return [_value_at(path, keys, value)]


@carries("check_thunderbird_prefs")
def _prefs(job: Job, judged: Judgement) -> list[Row]:
    rules = job.rules(judged)
    if rules.get("unexpect"):
        raise NotCarriedError("option", "check_thunderbird_prefs: unexpect")
    rows = []
    for name, rule in rules.get("expect", {}).items():
        if rule.get("method") != "eq":
            text = f"check_thunderbird_prefs: the method {rule.get('method')}"
            raise NotCarriedError("option", text)
        line = f"user_pref({json.dumps(name)}, {json.dumps(rule['ref'])});"
        rows.append(check("file_has_line", path=job.path(judged), line=line))
    return rows


@carries("check_config_status")
def _gimp(job: Job, judged: Judgement) -> list[Row]:
    rules = job.rules(judged)
    key = rules["key"]
    words = [*(key if isinstance(key, list) else [key]), rules["value"]]
    return [check("file_has_line", path=job.path(judged), line=f"({' '.join(map(str, words))})")]


@carries("find_default_font")
def _default_font(job: Job, judged: Judgement) -> list[Row]:
    font = str(job.rules(judged)["font_name"])
    return [_registry(job, judged, "/org.openoffice.Office.Writer/DefaultFont", "Standard", font)]


@carries("check_auto_saving_time")
def _auto_saving(job: Job, judged: Judgement) -> list[Row]:
    minutes = str(job.rules(judged)["minutes"])
    item = "/org.openoffice.Office.Common/Save/Document"
    return [_registry(job, judged, item, "AutoSaveTimeIntervall", minutes)]


@carries("check_presenter_console_disable")
def _presenter(job: Job, judged: Judgement) -> list[Row]:
    item = "/org.openoffice.Office.Impress/Misc/Start"
    return [_registry(job, judged, item, "EnablePresenterScreen", "false")]


def _registry(job: Job, judged: Judgement, item: str, prop: str, value: str) -> Row:
    """Return a check of a setting in LibreOffice's registrymodifications.xcu."""
    element = f"./item[@{_REGISTRY}path='{item}']/prop[@{_REGISTRY}name='{prop}']/value"
    return check("xml_text_equals", path=job.path(judged), element=element, text=value)


@carries(
    "check_play_and_exit",
    "check_qt_bgcone",
    "check_qt_max_volume",
    "check_qt_minimal_view",
    "check_one_instance_when_started_from_file",
)
def _vlc(job: Job, judged: Judgement) -> list[Row]:
    rules = job.rules(judged)
    name = judged.function.removeprefix("check_")
    key, value = name.replace("_", "-"), str(rules[f"expected_{name}"])
    if value == _VLC_DEFAULTS[key]:
        raise NotCarriedError(
            "option", f"{judged.function}: VLC's default, which it does not write"
        )
    return [_vlc_line(job, judged, key, value)]


@carries("is_vlc_recordings_folder")
def _vlc_folder(job: Job, judged: Judgement) -> list[Row]:
    folder = str(job.rules(judged)["recording_file_path"])
    return [_vlc_line(job, judged, "input-record-path", folder)]


def _vlc_line(job: Job, judged: Judgement, key: str, value: str) -> Row:
    return check("file_has_line", path=job.path(judged), line=f"{key}={value}")


@carries("run_sqlite3")
def _sqlite(job: Job, judged: Judgement) -> list[Row]:
    query = str(job.rules(judged)["sql"]).rstrip("; \n")
    rows: list[list[Any]] = [[1]]
    return [check("sqlite_query_equals", path=job.path(judged), query=query, rows=rows)]
