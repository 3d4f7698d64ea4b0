"""Real models on this machine, behind the endpoints that a user would configure."""
