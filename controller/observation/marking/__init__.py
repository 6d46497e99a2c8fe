"""Finding the elements of a screen that get marks: tree, text recognition, detector of icons."""
