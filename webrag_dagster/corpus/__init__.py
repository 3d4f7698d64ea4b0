"""Implementation of the corpus assets, checks and sensors."""
