"""The part of Mesocosm that runs inside guests: Python 3.9, standard library, bundled wheels."""
