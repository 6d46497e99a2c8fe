"""Values and formulas of cells, compared with what a task expects."""
