"""Implementation of the evaluation assets: runs, scores, the gate, and their automation."""
