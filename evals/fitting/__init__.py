"""What is fitted to measurements: probabilities, relevance, token weights; and how well they hold."""
