"""Bill of materials of an image in CycloneDX's format.

Source: CycloneDX 1.5, https://cyclonedx.org/docs/1.5/json/; package URLs of type ``deb``,
https://github.com/package-url/purl-spec.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from images.debian_packages import VERSION_SUFFIX

if TYPE_CHECKING:
    from images.manifest import Manifest

_NAMESPACE = uuid.UUID("6c1f3a52-6a57-4b6c-9c55-0d1f6f5f2f6e")


def bill_of_materials(manifest: Manifest) -> dict[str, Any]:
    """Return the bill of materials of a built image, as JSON data.

    It is a function of the manifest: the same image has the same document.

    Args:
        manifest: manifest of the image.
    """
    label = f"{manifest.name}:{manifest.variant}"
    files = [
        {
            "type": "file",
            "name": name,
            "hashes": [{"alg": "SHA-256", "content": entry.sha256}],
            "properties": [_property("size_bytes", str(entry.size_bytes))],
        }
        for name, entry in sorted(manifest.files.items())
    ]
    facts = {
        "image_digest": manifest.image_digest,
        "recipe_digest": manifest.recipe_digest,
        **{f"needs:{name}": digest for name, digest in sorted(manifest.needs.items())},
        **dict(sorted(manifest.notes.items())),
    }
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(_NAMESPACE, manifest.image_digest)}",
        "version": 1,
        "metadata": {
            "timestamp": manifest.built_at,
            "tools": {
                "components": [
                    {"type": "application", "name": "mesocosm", "version": manifest.builder}
                ]
            },
            "component": {
                "type": "operating-system" if manifest.name == "desktop" else "container",
                "bom-ref": label,
                "name": manifest.name,
                "version": manifest.variant,
                "properties": [_property(name, value) for name, value in facts.items()],
            },
        },
        "components": [
            _package(name, version, manifest.variant)
            for name, version in sorted(manifest.packages.items())
        ]
        + files,
    }


def _package(name: str, version: str, variant: str) -> dict[str, Any]:
    """Return a package; one of Debian's on Ubuntu is marked as changed here."""
    vendor, _, release = variant.partition("-")
    number = release.partition("-")[0]
    is_ours = version.endswith(VERSION_SUFFIX)
    origin = "debian" if is_ours else vendor
    url = f"pkg:deb/{origin}/{quote(name)}@{quote(version, safe='')}"
    component = {
        "type": "library",
        "bom-ref": f"{name}={version}",
        "name": name,
        "version": version,
        "purl": url if is_ours else f"{url}?distro={vendor}-{number}",
    }
    return component | ({"modified": True} if is_ours else {})


def _property(name: str, value: str) -> dict[str, str]:
    return {"name": f"mesocosm:{name}", "value": value}
