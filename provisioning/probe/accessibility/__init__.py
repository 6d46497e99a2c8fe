"""Accessibility trees and titles of windows, over D-Bus connections that are verified."""
