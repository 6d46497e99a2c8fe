"""Where the weights of optional engines are: environment ``MESOCOSM_VISION_*``."""

from __future__ import annotations

import hashlib
from pathlib import Path  # noqa: TC003 - pydantic reads it

from pydantic_settings import BaseSettings, SettingsConfigDict

from appliance.base.errors import RequirementError


class VisionSettings(BaseSettings):
    """Settings of recognition; every field can be set by ``MESOCOSM_VISION_<NAME>``.

    Attributes:
        easyocr_dir: folder of EasyOCR's weights (``craft_mlt_25k.pth``, ``english_g2.pth``).
        easyocr_detector_sha256: what ``craft_mlt_25k.pth`` must be.
        easyocr_reader_sha256: what ``english_g2.pth`` must be.
        xfeat_weights: file of XFeat's weights (``xfeat.pt``).
        xfeat_sha256: what that file must be.
        threads: processor threads of an engine.
    """

    model_config = SettingsConfigDict(env_prefix="MESOCOSM_VISION_", frozen=True)

    easyocr_dir: Path | None = None
    easyocr_detector_sha256: str = ""
    easyocr_reader_sha256: str = ""
    xfeat_weights: Path | None = None
    xfeat_sha256: str = ""
    threads: int = 2


def checked_weights(
    path: Path | None, sha256: str, *, engine: str, place: str, checksum: str
) -> Path:
    """Give a file of weights whose checksum is right: loading another one may run what is in it.

    Args:
        path: of the file; None when it is not set.
        sha256: what it must be.
        engine: whose weights they are, in words.
        place: name of the setting that says where it is.
        checksum: name of the setting that says what it must be.

    Raises:
        RequirementError: it is not set, missing, or another file than was meant.
    """
    if path is None or not path.is_file():
        raise RequirementError(
            f"The weights of {engine} are not here.",
            details=f"Looked for {path or 'nothing: no path is set'}.",
            resolution=f"Set MESOCOSM_VISION_{place.upper()} to where they are.",
        )
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != sha256.strip().lower():
        raise RequirementError(
            f"{path} is not the file of weights that was meant.",
            details=f"SHA-256 {found}, wanted {sha256 or 'nothing: no checksum is set'}.",
            resolution=f"Set MESOCOSM_VISION_{checksum.upper()} to the checksum of a file you trust.",
        )
    return path
