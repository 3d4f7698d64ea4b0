"""What the evaluation assets do: walks, scores, the gate, and when they run by themselves."""
