"""The real loading path of GroundingDINO, with a tiny random model; skipped without the extra."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from controller.observation.marking.grounding import WEIGHTS, GroundingFinder, grounding_finder
from foundation.errors import RequirementError

if TYPE_CHECKING:
    from pathlib import Path

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "icon", "logo", "."]
PROMPT = "icon.logo."


def save_tiny_model(folder: Path) -> None:
    """Save a random model of a few thousand parameters, as transformers saves real ones."""
    torch = pytest.importorskip("torch")
    library: Any = pytest.importorskip("transformers")
    folder.mkdir()
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(VOCABULARY))
    tokenizer = library.BertTokenizer(vocab=str(vocabulary))
    backbone = library.SwinConfig(
        image_size=64, embed_dim=12, depths=[1, 1, 1, 1], num_heads=[1, 1, 1, 1], window_size=4,
        out_features=["stage2", "stage3", "stage4"],
    )  # fmt: skip
    text = library.BertConfig(
        vocab_size=len(VOCABULARY), hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=32,
    )  # fmt: skip
    config = library.GroundingDinoConfig(
        backbone_config=backbone, text_config=text, d_model=32, encoder_layers=1,
        decoder_layers=2, encoder_attention_heads=2, decoder_attention_heads=2, num_queries=10,
        encoder_ffn_dim=32, decoder_ffn_dim=32,
    )  # fmt: skip
    torch.manual_seed(0)
    library.GroundingDinoForObjectDetection(config).save_pretrained(folder)
    pictures = library.GroundingDinoImageProcessor(size={"shortest_edge": 64, "longest_edge": 96})
    library.GroundingDinoProcessor(pictures, tokenizer).save_pretrained(folder)


def test_a_saved_model_is_loaded_and_its_boxes_are_on_the_screen(tmp_path: Path) -> None:
    save_tiny_model(tmp_path / "model")
    finder = GroundingFinder(tmp_path / "model", PROMPT, box_threshold=0.0, text_threshold=0.0)
    frame = np.random.default_rng(0).integers(0, 255, (80, 120, 3), np.uint8)
    boxes = finder.find(frame)
    assert all(0 <= box.left < box.right <= 120 for box in boxes)
    assert all(0 <= box.top < box.bottom <= 80 for box in boxes)
    assert all((box.right - box.left) * (box.bottom - box.top) <= 960 for box in boxes)
    assert finder.find(frame) == boxes


def test_weights_with_another_checksum_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / WEIGHTS).write_bytes(b"x")
    monkeypatch.setenv("MESOCOSM_VISION_GROUNDING_DIR", str(tmp_path))
    monkeypatch.setenv("MESOCOSM_VISION_GROUNDING_SHA256", "0" * 64)
    with pytest.raises(RequirementError, match="not the expected"):
        grounding_finder(PROMPT)


def test_a_missing_model_is_named_with_its_setting() -> None:
    with pytest.raises(RequirementError) as caught:
        grounding_finder("another prompt.")
    assert "MESOCOSM_VISION_GROUNDING_DIR" in caught.value.resolution
