"""The state of a world: the files of its servers, made from a persona."""
