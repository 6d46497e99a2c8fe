"""Settings of optional engines and their weights, from environment variables ``MESOCOSM_VISION_*``."""

from __future__ import annotations

import hashlib
from pathlib import Path  # noqa: TC003 - pydantic reads it

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from foundation.environment import EnvironmentSettings
from foundation.errors import RequirementError


class VisionSettings(EnvironmentSettings):
    """Settings of recognition; each field can be set with ``MESOCOSM_VISION_<NAME>``.

    Attributes:
        easyocr_dir: folder of EasyOCR's weights (``craft_mlt_25k.pth``, ``english_g2.pth``).
        easyocr_detector_sha256: checksum of ``craft_mlt_25k.pth``.
        easyocr_reader_sha256: checksum of ``english_g2.pth``.
        xfeat_weights: file of XFeat's weights (``xfeat.pt``).
        xfeat_sha256: checksum of that file.
        grounding_dir: folder of a GroundingDINO model, as transformers saves it.
        grounding_sha256: checksum of its ``model.safetensors``; empty does not check it.
        threads: number of CPU threads of an engine.
    """

    model_config = SettingsConfigDict(env_prefix="MESOCOSM_VISION_", frozen=True)

    easyocr_dir: Path | None = None
    easyocr_detector_sha256: str = ""
    easyocr_reader_sha256: str = ""
    xfeat_weights: Path | None = None
    xfeat_sha256: str = ""
    grounding_dir: Path | None = None
    grounding_sha256: str = ""
    threads: int = Field(default=2, ge=1)


def checked_weights(
    path: Path | None, sha256: str, *, engine: str, place: str, checksum: str
) -> Path:
    """Verify the checksum of a file of weights and return its path; loading another file may execute code.

    Args:
        path: path of the file; None if it is not set.
        sha256: expected checksum.
        engine: name of the engine.
        place: name of the setting with the path.
        checksum: name of the setting with the checksum.

    Raises:
        RequirementError: the path is not set, or the file is missing or has another checksum.
    """
    if path is None or not path.is_file():
        raise RequirementError(
            f"The weights of {engine} are missing.",
            details=f"Path: {path or 'not set'}.",
            resolution=f"Set MESOCOSM_VISION_{place.upper()} to their path.",
        )
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if digest != sha256.strip().lower():
        raise RequirementError(
            f"{path} is not the expected file of weights.",
            details=f"SHA-256 {digest}, expected {sha256 or 'none: no checksum is set'}.",
            resolution=f"Set MESOCOSM_VISION_{checksum.upper()} to the checksum of a file that you trust.",
        )
    return path
