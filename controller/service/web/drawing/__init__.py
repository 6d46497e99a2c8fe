"""Drawings that the pages hold as SVG: laid out here, coloured by the style sheet."""
