"""The program in the renderer: reads a document from its input and writes a view of it."""
