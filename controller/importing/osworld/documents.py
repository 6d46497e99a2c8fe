"""OSWorld's functions for text documents, presentations and PDFs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.importing.errors import NotCarriedError
from controller.importing.osworld.job import carries, check

if TYPE_CHECKING:
    from controller.importing.draft import Row
    from controller.importing.osworld.file import Judgement
    from controller.importing.osworld.job import Job

_LOOSE = {
    "ignore_case": "letter case",
    "ignore_order": "the order of paragraphs",
    "fuzzy_match": "all of the text, not only most of it",
    "content_only": "all of the text, not only most of it",
}
"""Options with which OSWorld's function accepts more, and what ours compares all the same."""
_NO_OPTIONS = {"ignore_blanks", "delete_empty_lines", "approximately_tolerance", "enable_debug"}
"""Options that change nothing here: empty paragraphs and positions within half a millimetre."""
_EXAMINED = {
    "examine_text": "texts",
    "examine_number_of_slides": "the number of slides",
    "examine_note": "notes",
    "examine_indent": "indents",
    "examine_font_name": "fonts",
    "examine_font_size": "sizes",
    "examine_font_bold": "bold",
    "examine_font_italic": "italics",
    "examine_color_rgb": "colours",
    "examine_font_underline": "underlines",
    "examine_strike_through": "struck texts",
    "examine_alignment": "alignment",
    "examine_bullets": "bullets",
    "examine_background_color": "backgrounds",
}
"""What compare_pptx_files leaves out if an option is off."""
_HARMLESS = {"examine_shape", "examine_run_count", "examine_shape_lenient_height"}


def _same(job: Job, judged: Judgement, *aspects: str) -> list[Row]:
    reference = job.draft.keep_file(job.reference(judged))
    path = job.path(judged)
    return [check("document_same_as", path=path, reference=reference, aspects=list(aspects))]


@carries(
    "compare_docx_files",
    "compare_docx_files_and_ignore_new_lines",
    "compare_docx_tables",
    "compare_init_lines",
    "compare_docx_lines",
)
def _texts(job: Job, judged: Judgement) -> list[Row]:
    for name, value in judged.options.items():
        if name in _LOOSE:
            if value:
                text = f"{judged.function}: {name} is on; ours compares {_LOOSE[name]}"
                job.draft.miss("extent", text)
        elif name not in _NO_OPTIONS:
            raise NotCarriedError("option", f"{judged.function}: {name}")
    return _same(job, judged, "text")


@carries(
    "compare_line_spacing",
    "compare_subscript_contains",
    "compare_highlighted_text",
    "check_highlighted_words",
    "check_italic_font_size_14",
    "check_tabstops",
    "evaluate_colored_words_in_tables",
    "evaluate_strike_through_last_paragraph",
)
def _formats(job: Job, judged: Judgement) -> list[Row]:
    return _same(job, judged, "text", "formatting")


@carries("compare_font_names")
def _font(job: Job, judged: Judgement) -> list[Row]:
    font = str(job.rules(judged)["font_name"])
    return [check("document_text_font", path=job.path(judged), font=font)]


@carries("has_page_numbers_in_footers")
def _page_numbers(job: Job, judged: Judgement) -> list[Row]:
    return [check("document_pages_numbered", path=job.path(judged), margin="footer")]


@carries("compare_pptx_files")
def _slides(job: Job, judged: Judgement) -> list[Row]:
    for name, value in judged.options.items():
        if name in _NO_OPTIONS or name in _HARMLESS or name.startswith("_"):
            continue
        if name not in _EXAMINED:
            if value:
                raise NotCarriedError("option", f"{judged.function}: {name}, a rule of one task")
            continue
        if not value:
            text = f"{judged.function}: {name} is off; ours compares {_EXAMINED[name]}"
            job.draft.miss("extent", text)
    aspects = ["text", "formatting"]
    if judged.options.get("examine_shape", True):
        aspects.append("structure")
    return _same(job, judged, *aspects)


@carries("check_slide_orientation_Portrait")
def _portrait(job: Job, judged: Judgement) -> list[Row]:
    return [check("slides_have_orientation", path=job.path(judged), orientation="portrait")]


@carries("check_transition")
def _transition(job: Job, judged: Judgement) -> list[Row]:
    rules = job.rules(judged)
    slide, name = int(rules["slide_idx"]) + 1, str(rules["transition_type"])
    return [check("slide_transition_is", path=job.path(judged), slide=slide, transition=name)]


@carries("compare_pdfs")
def _pdfs(job: Job, judged: Judgement) -> list[Row]:
    result, expected = judged.result, judged.expected
    if not job.is_on_desktop(result) and job.is_on_desktop(expected):
        result, expected = expected, result
    paths = result.get("path")
    urls = expected.get("path")
    if isinstance(paths, list) and isinstance(urls, list) and len(paths) == len(urls):
        pairs = [
            type(judged)(
                judged.function,
                {"type": result["type"], "path": path},
                {"type": expected["type"], "path": url},
            )
            for path, url in zip(paths, urls, strict=True)
        ]
        return [row for pair in pairs for row in _same(job, pair, "text")]
    return _same(job, type(judged)(judged.function, result, expected), "text")


@carries("check_pdf_pages")
def _pages(job: Job, judged: Judgement) -> list[Row]:
    rules = job.rules(judged)
    if rules.get("relation") != "eq":
        raise NotCarriedError("option", f"{judged.function}: relation {rules.get('relation')}")
    count = int(rules["ref_value"])
    return [check("pdf_page_count_equals", path=job.path(judged), count=count)]
