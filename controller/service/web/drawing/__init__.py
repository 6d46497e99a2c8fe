"""SVG drawings of the pages: laid out here, coloured by the style sheet."""
