"""The gate of releases of scorer weights, and the proof by replay that feedback cannot be gamed."""
