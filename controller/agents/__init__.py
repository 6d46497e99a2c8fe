"""Who acts: the reference solution, nobody, chance, a file, a model."""
