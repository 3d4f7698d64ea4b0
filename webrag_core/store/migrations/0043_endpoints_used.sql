-- Endpoints with a key that this corpus has used, so that the first request to each is announced once.

CREATE TABLE endpoints_used (
    name text PRIMARY KEY,                       -- as breakers.name, and the model
    first_at timestamptz NOT NULL DEFAULT now()
);
