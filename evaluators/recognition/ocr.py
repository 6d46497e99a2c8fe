"""Recognise text: RapidOCR, Tesseract and EasyOCR behind one interface."""

from __future__ import annotations

import csv
import hashlib
import io
import threading
import unicodedata
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

import numpy as np
from PIL import Image

from evaluators.recognition.extras import need, version_of
from evaluators.recognition.settings import VisionSettings, checked_weights
from foundation import process
from foundation.errors import RequirementError
from foundation.once import once
from provisioning.protocols import Bounds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from evaluators.pictures import Pixels

EngineName = Literal["rapidocr", "tesseract", "easyocr"]
ENGINES: tuple[EngineName, ...] = get_args(EngineName)
_TESSERACT_SCALE = 2
_TESSERACT_TIMEOUT_S = 60.0
_EASYOCR_GAP = 1.0
_LEAST_SCORE = 0.5
_KEPT = 16
_MAX_LINE_PX = 8000


@dataclass(frozen=True, slots=True)
class TextLine:
    """A recognised line of text.

    Attributes:
        text: recognised text; engines may lose spaces.
        bounds: bounds in px of the picture.
        score: the engine's confidence, 0 to 1.
    """

    text: str
    bounds: Bounds
    score: float

    def moved(self, x: int, y: int) -> TextLine:
        """Return the line at another place, for a picture that is a part of a larger one."""
        box = self.bounds
        bounds = Bounds(box.left + x, box.top + y, box.right + x, box.bottom + y)
        return replace(self, bounds=bounds)


class TextEngine(Protocol):
    """Engine that recognises lines of text."""

    @property
    def version(self) -> str:
        """Names and versions of the libraries used."""
        ...

    def read(self, pixels: Pixels) -> Sequence[TextLine]:
        """Return the lines of a picture, from top to bottom.

        Args:
            pixels: uint8 array (H, W, 3), RGB.
        """
        ...


class RapidOcr:
    """RapidOCR on ONNX Runtime; its models (PP-OCR) are in its wheel.

    Source: https://rapidai.github.io/RapidOCRDocs/. The orientation classifier is off: it turns
    small upright lines upside down.

    Raises:
        RequirementError: the extra ``ocr`` is not installed.
    """

    def __init__(self) -> None:
        rapidocr = need("rapidocr", "ocr")
        need("onnxruntime", "ocr")
        params = {
            "Global.use_cls": False,
            "Global.log_level": "error",
            "EngineConfig.onnxruntime.intra_op_num_threads": VisionSettings().threads,
        }
        self._engine: Any = rapidocr.RapidOCR(params=params)
        self.version = version_of("rapidocr", "onnxruntime")

    def read(self, pixels: Pixels) -> Sequence[TextLine]:
        """Return the lines of a picture."""
        result = self._engine(np.ascontiguousarray(pixels[:, :, ::-1]), use_cls=False)
        if result.boxes is None:
            return []
        rows = zip(result.txts, result.boxes, result.scores, strict=True)
        return _sorted(TextLine(text, _around(box), float(score)) for text, box, score in rows)


class LineReader:
    """RapidOCR's recogniser alone, for pictures of single lines.

    Raises:
        RequirementError: the extra ``ocr`` is not installed.
    """

    def __init__(self) -> None:
        rapidocr = need("rapidocr", "ocr")
        need("onnxruntime", "ocr")
        params = {
            "Global.use_det": False,
            "Global.use_cls": False,
            "Global.max_side_len": _MAX_LINE_PX,
            "Global.log_level": "error",
            "EngineConfig.onnxruntime.intra_op_num_threads": VisionSettings().threads,
        }
        self._engine: Any = rapidocr.RapidOCR(params=params)

    def read_line(self, pixels: Pixels) -> str:
        """Return the text of a picture of one line; empty if there is none."""
        result = self._engine(np.ascontiguousarray(pixels[:, :, ::-1]))
        return "".join(result.txts or ())


class Tesseract:
    """The program Tesseract 5; pictures are doubled in size for it.

    Raises:
        RequirementError: the program is not installed.
    """

    def __init__(self) -> None:
        path = process.find_tool("tesseract")
        if path is None:
            raise RequirementError(
                "The program tesseract is not installed.",
                resolution="Install Debian's package tesseract-ocr.",
            )
        self._path = path
        self.version = process.run([path, "--version"]).text.partition("\n")[0]

    def read(self, pixels: Pixels) -> Sequence[TextLine]:
        """Return the lines of a picture."""
        image = Image.fromarray(pixels)
        size = (image.width * _TESSERACT_SCALE, image.height * _TESSERACT_SCALE)
        png = io.BytesIO()
        image.resize(size, Image.Resampling.BICUBIC).save(png, "PNG", compress_level=1)
        argv = [self._path, "stdin", "stdout", "--dpi", "192", "--psm", "3", "-l", "eng", "tsv"]
        threads = {"OMP_THREAD_LIMIT": str(VisionSettings().threads)}
        done = process.run(
            argv, stdin=png.getvalue(), timeout_s=_TESSERACT_TIMEOUT_S, env=threads
        ).require()
        return _sorted(_tesseract_lines(done.stdout.decode(errors="replace")))


class EasyOcr:
    """EasyOCR, with weights from a local folder whose checksums are verified.

    Nothing is downloaded. Words of a line are joined if the gap is at most as wide as the line is
    high, because by default EasyOCR returns most words of a user interface separately.

    Raises:
        RequirementError: the extra ``vision`` is not installed, or the weights have another checksum.
    """

    def __init__(self) -> None:
        folder = _easyocr_weights(VisionSettings())
        self._kept = _define_torchvision_operators(need("torch", "vision"))
        easyocr = need("easyocr", "vision")
        try:
            self._reader: Any = easyocr.Reader(
                ["en"],
                gpu=False,
                model_storage_directory=str(folder),
                user_network_directory=str(folder),
                download_enabled=False,
                verbose=False,
            )
        except (FileNotFoundError, RuntimeError, OSError) as exc:
            raise RequirementError(
                "EasyOCR cannot load its weights.",
                details=str(exc)[:400],
                resolution=f"Put craft_mlt_25k.pth and english_g2.pth into {folder}.",
            ) from exc
        self.version = version_of("easyocr", "torch")

    def read(self, pixels: Pixels) -> Sequence[TextLine]:
        """Return the lines of a picture."""
        rows = self._reader.readtext(np.ascontiguousarray(pixels), width_ths=_EASYOCR_GAP)
        return _sorted(TextLine(text, _around(box), float(score)) for box, text, score in rows)


def _easyocr_weights(settings: VisionSettings) -> Path | None:
    """Return the folder of EasyOCR's weights, with both files verified."""
    folder = settings.easyocr_dir
    for file, kind in (("craft_mlt_25k.pth", "detector"), ("english_g2.pth", "reader")):
        checksum = f"easyocr_{kind}_sha256"
        checked_weights(
            folder / file if folder is not None else None,
            getattr(settings, checksum),
            engine="EasyOCR",
            place="easyocr_dir",
            checksum=checksum,
        )
    return folder


_MAKERS: dict[EngineName, Callable[[], TextEngine]] = {
    "rapidocr": once(RapidOcr),
    "tesseract": once(Tesseract),
    "easyocr": once(EasyOcr),
}
line_reader = once(LineReader)
"""Return the reader of lines of this process, created at the first call."""
_lock = threading.Lock()
_read: OrderedDict[tuple[str, str], Sequence[TextLine]] = OrderedDict()


def text_engine(name: EngineName) -> TextEngine:
    """Return the engine of this process, created at the first call.

    Raises:
        RequirementError: a dependency is not installed.
    """
    return _MAKERS[name]()


def read_text(pixels: Pixels, engine: EngineName) -> Sequence[TextLine]:
    """Return the lines of a picture; recent results are cached.

    Only one picture is read at a time, because engines use all their threads.

    Raises:
        RequirementError: a dependency of the engine is not installed.
    """
    key = (engine, hashlib.sha256(pixels.tobytes()).hexdigest() + str(pixels.shape))
    with _lock:
        if key not in _read:
            _read[key] = text_engine(engine).read(pixels)
            while len(_read) > _KEPT:
                _read.popitem(last=False)
        return _read[key]


def holds(line: str, wanted: str, *, whole: bool = False) -> bool:
    """Return whether a recognised line contains a text as whole words.

    Spaces are ignored, because engines lose and insert them; Unicode is compared in NFKC. If the
    text begins or ends with a letter or digit, it must not be next to another one.

    Args:
        line: recognised line.
        wanted: the text; an empty text is never contained.
        whole: whether the line must contain nothing else.
    """
    plain = unicodedata.normalize("NFKC", line)
    places = [place for place, letter in enumerate(plain) if not letter.isspace()]
    squeezed = "".join(plain[place] for place in places)
    sought = "".join(unicodedata.normalize("NFKC", wanted).split())
    if whole or not sought:
        return squeezed == sought != ""
    start = squeezed.find(sought)
    while start >= 0:
        first, last = places[start], places[start + len(sought) - 1]
        if not _touches(plain, first, first - 1) and not _touches(plain, last, last + 1):
            return True
        start = squeezed.find(sought, start + 1)
    return False


def _touches(text: str, place: int, neighbour: int) -> bool:
    is_inside = 0 <= neighbour < len(text)
    return is_inside and text[place].isalnum() and text[neighbour].isalnum()


def _sorted(lines: Any) -> list[TextLine]:  # noqa: ANN401 - any iterable of lines
    kept = [line for line in lines if line.score >= _LEAST_SCORE and line.text.strip()]
    return sorted(kept, key=lambda line: (line.bounds.top, line.bounds.left))


def _around(box: Any) -> Bounds:  # noqa: ANN401 - four corners, x then y
    corners = np.asarray(box, dtype=float)
    left, top = np.floor(corners.min(axis=0))
    right, bottom = np.ceil(corners.max(axis=0))
    return Bounds(int(left), int(top), int(right), int(bottom))


def _tesseract_lines(table: str) -> list[TextLine]:
    """Join the words in Tesseract's table (TSV) into lines; level 5 is a word."""
    lines: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for row in csv.DictReader(io.StringIO(table), delimiter="\t", quoting=csv.QUOTE_NONE):
        if row["level"] == "5" and float(row["conf"]) >= 0 and row["text"].strip():
            key = (row["page_num"], row["block_num"], row["par_num"], row["line_num"])
            lines.setdefault(key, []).append(row)
    return [_tesseract_line(word_rows) for word_rows in lines.values()]


def _tesseract_line(word_rows: list[dict[str, str]]) -> TextLine:
    boxes = [
        [int(word[name]) // _TESSERACT_SCALE for name in ("left", "top", "width", "height")]
        for word in word_rows
    ]
    bounds = Bounds(
        min(left for left, _, _, _ in boxes),
        min(top for _, top, _, _ in boxes),
        max(left + width for left, _, width, _ in boxes),
        max(top + height for _, top, _, height in boxes),
    )
    score = sum(float(word["conf"]) for word in word_rows) / len(word_rows) / 100
    return TextLine(" ".join(word["text"] for word in word_rows), bounds, score)


def _define_torchvision_operators(torch: Any) -> object:  # noqa: ANN401 - a module
    """Make torchvision importable with a torch built without its operators.

    EasyOCR imports torchvision but does not use its operators. The caller must keep the returned
    object.
    """
    try:
        importable = need("torchvision", "vision")
    except RequirementError:
        library = torch.library.Library("torchvision", "FRAGMENT")
        boxes = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
        for name in ("nms", "qnms"):
            library.define(f"{name}{boxes}")
        return library
    return importable
