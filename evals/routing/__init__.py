"""The router judged: every agent run for every golden, the regret of each way to choose among them."""
