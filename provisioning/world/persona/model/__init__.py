"""Records of a persona: what they contain."""
