"""The router: a question becomes a plan of tasks for agents, which run side by side and fail in public."""
