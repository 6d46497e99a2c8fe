"""Check that images and devices meet Mesocosm's requirements."""
