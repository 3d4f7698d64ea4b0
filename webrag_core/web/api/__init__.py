"""REST: JSON in and out, the events of an answer as a stream, and the OpenAPI description of all of it."""
