"""The program that controls a world's servers; it runs in the container, with the standard library only."""
