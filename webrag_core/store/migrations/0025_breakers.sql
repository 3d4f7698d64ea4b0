-- What is known of dependencies that fail, for all processes of a database.

-- A breaker is closed (its dependency is asked) while `opened_at` is null, else open: nobody asks until `retry_at`, then
-- one process, which has until `probe_until`. No row: it never failed.
CREATE TABLE breakers (
    name            text PRIMARY KEY,                          -- kind and host of the endpoint: chat api.openai.com
    failures        integer NOT NULL,                          -- in a row
    opened_at       timestamptz,                               -- since then it has not answered
    retry_at        timestamptz,                               -- the next probe
    probe_until     timestamptz,
    last_reason     text NOT NULL,
    last_failure_at timestamptz NOT NULL,
    CHECK ((opened_at IS NULL) = (retry_at IS NULL))
);

CREATE VIEW contract.v_breaker AS
SELECT name, CASE WHEN opened_at IS NULL THEN 'closed'
                  WHEN greatest(retry_at, probe_until) > now() THEN 'open'
                  ELSE 'half_open' END AS state,
       failures, opened_at, greatest(retry_at, probe_until) AS retry_at, last_reason, last_failure_at
FROM breakers;
