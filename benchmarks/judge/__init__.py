"""How well a chat model judges evidence, with an endpoint whose answers come from outside."""
