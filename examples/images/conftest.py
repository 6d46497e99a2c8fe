"""Specifications of images run on their machines (`mesocosm image build`), not on this host."""

collect_ignore_glob = ["*/test_*.py"]
