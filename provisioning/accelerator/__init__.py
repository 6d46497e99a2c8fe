"""Detects whether guests run under KVM."""
