"""Bill of materials of an image."""

from __future__ import annotations

from images.manifest import FileEntry, Manifest
from images.sbom import bill_of_materials

MANIFEST = Manifest(
    name="desktop",
    variant="ubuntu-22.04",
    recipe_digest="r",
    image_digest="i",
    built_at="2026-11-28T12:00:00+00:00",
    seconds=1.0,
    builder="0.1.0",
    needs={"base": "b"},
    files={"disk.qcow2": FileEntry(size_bytes=7, sha256="0" * 64)},
    packages={"libstdc++6": "12-1", "firefox-esr": "1:2~deb12u1+mesocosm1"},
    notes={"browser": "Firefox"},
)


def test_packages_have_urls_and_those_changed_here_are_marked() -> None:
    browser, library, disk = bill_of_materials(MANIFEST)["components"]
    assert browser["purl"] == "pkg:deb/debian/firefox-esr@1%3A2~deb12u1%2Bmesocosm1"
    assert browser["modified"] is True
    assert library["purl"] == "pkg:deb/ubuntu/libstdc%2B%2B6@12-1?distro=ubuntu-22.04"
    assert "modified" not in library
    assert (disk["type"], disk["hashes"][0]["content"]) == ("file", "0" * 64)


def test_document_is_a_function_of_the_manifest() -> None:
    first, again = bill_of_materials(MANIFEST), bill_of_materials(MANIFEST)
    assert first == again
    other = bill_of_materials(MANIFEST.model_copy(update={"image_digest": "j"}))
    assert first["serialNumber"] != other["serialNumber"]
    facts = {row["name"]: row["value"] for row in first["metadata"]["component"]["properties"]}
    assert facts["mesocosm:image_digest"] == "i"
    assert facts["mesocosm:needs:base"] == "b"
