"""Models of views, by kind of document. `VERSION` changes with their meaning."""
