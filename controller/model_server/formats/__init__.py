"""The formats of the APIs that the stand-in server speaks."""
