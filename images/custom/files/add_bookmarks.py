"""Add bookmarks to Firefox's policies; runs in the tree of an image, with its Python."""

import json
import sys
from pathlib import Path

PATH = Path("/etc/firefox/policies/policies.json")


def main() -> None:
    """Append the bookmarks of the first argument, JSON, to those of the policies."""
    content = json.loads(PATH.read_text()) if PATH.is_file() else {}
    policies = content.setdefault("policies", {})
    policies.setdefault("Bookmarks", []).extend(json.loads(sys.argv[1]))
    policies["DisplayBookmarksToolbar"] = "always"
    PATH.parent.mkdir(parents=True, exist_ok=True)
    PATH.write_text(json.dumps(content, indent=2) + "\n")


if __name__ == "__main__":
    main()
