"""Accessibility trees and window titles, over verified D-Bus connections."""
