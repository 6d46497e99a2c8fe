"""Proofs that take too long for a landing: jobs that can be resumed, and a ledger of their results."""
