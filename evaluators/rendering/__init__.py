"""Views of documents, made by the program that shows them in a place the agent cannot reach."""
