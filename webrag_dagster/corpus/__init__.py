"""What the corpus assets, their checks and their sensors do."""
