"""Tests that are too slow for `make test`: resumable jobs, and a ledger of their results."""
