"""Recalculation of spreadsheet formulas, to verify stored results."""
