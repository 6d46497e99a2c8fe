"""OSWorld's functions for pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.importing.errors import NotCarriedError
from controller.importing.osworld.job import DESKTOP, carries, check

if TYPE_CHECKING:
    from controller.importing.draft import Row
    from controller.importing.osworld.file import Judgement
    from controller.importing.osworld.job import Job


@carries(
    "compare_images",
    "check_structure_sim",
    "check_structure_sim_with_threshold",
    "check_structure_sim_resized",
    "check_file_exists_and_structure_sim",
)
def _same(job: Job, judged: Judgement) -> list[Row]:
    original = job.original(judged.expected, judged.function)
    return [check("image_same_as", path=job.path(judged), original=original)]


@carries("compare_image_list")
def _all_same(job: Job, judged: Judgement) -> list[Row]:
    paths = judged.result.get("path")
    urls = judged.expected.get("path")
    job.paths(judged)
    if not isinstance(paths, list) or not isinstance(urls, list) or len(paths) != len(urls):
        raise NotCarriedError("option", "compare_image_list: lists of different lengths")
    rows = []
    for path, url in zip(paths, urls, strict=True):
        original = job.original({**judged.expected, "path": url}, judged.function)
        rows.append(check("image_same_as", path=str(path), original=original))
    return rows


@carries("check_brightness_decrease_and_structure_sim")
def _darker(job: Job, judged: Judgement) -> list[Row]:
    """Carry over a comparison in which the result is the darker one, whichever of both it is."""
    if job.is_on_desktop(judged.result):
        path, original, direction = job.path(judged), judged.expected, "darker"
    else:
        path = str(judged.expected.get("path"))
        original, direction = judged.result, "brighter"
    args = {"path": path, "original": job.original(original, judged.function)}
    return [check("image_brightness_changed", **args, direction=direction)]


@carries("check_contrast_increase_and_structure_sim")
def _contrast(job: Job, judged: Judgement) -> list[Row]:
    original = job.original(judged.expected, judged.function)
    path = job.path(judged)
    return [check("image_contrast_changed", path=path, original=original, direction="more")]


@carries("check_image_mirror")
def _mirrored(job: Job, judged: Judgement) -> list[Row]:
    original = job.original(judged.expected, judged.function)
    return [check("image_turned", path=job.path(judged), original=original, how="mirrored")]


@carries("check_image_size")
def _size(job: Job, judged: Judgement) -> list[Row]:
    rules = job.rules(judged)
    width, height = rules.get("width"), rules.get("height")
    if width is None or height is None or rules.get("ignore_transparent"):
        raise NotCarriedError("option", "check_image_size: one side, or without transparent parts")
    path = job.path(judged)
    return [check("image_size_equals", path=path, width=int(width), height=int(height))]


@carries("check_image_file_size")
def _file_size(job: Job, judged: Judgement) -> list[Row]:
    most = int(job.rules(judged)["max_size"]) - 1
    path = job.path(judged)
    return [check("file_size_between", path=path, least_bytes=1, most_bytes=most)]


@carries("compare_image_text")
def _text(job: Job, judged: Judgement) -> list[Row]:
    text = str(job.rules(judged)["text"])
    return [check("image_has_text", on=DESKTOP, path=job.path(judged), text=text)]
