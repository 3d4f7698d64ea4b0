-- Links that show one answer to whoever has them. Only the digest of a link's token is stored: the token is shown once.

CREATE TABLE answer_shares (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    answer_id    bigint NOT NULL REFERENCES answer_runs ON DELETE CASCADE,
    token_sha256 bytea NOT NULL UNIQUE CHECK (length(token_sha256) = 32),
    created_at   timestamptz NOT NULL DEFAULT now(),
    expires_at   timestamptz NOT NULL
);
CREATE INDEX answer_shares_answer ON answer_shares (answer_id);
