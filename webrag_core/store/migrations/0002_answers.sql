-- Answer runs: rounds with everything a replay needs, and citations that stay provable.

CREATE TABLE answer_runs (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    seed_url      text NOT NULL,
    query         text NOT NULL,
    options       jsonb NOT NULL,
    policy        text NOT NULL,
    state         text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'done', 'failed')),
    reason        text,
    action        text,
    rule          text,
    probability   double precision,
    warnings      jsonb NOT NULL DEFAULT '[]',
    started_at    timestamptz NOT NULL DEFAULT now(),
    ended_at      timestamptz,
    CHECK (state <> 'failed' OR reason IS NOT NULL)
);

CREATE TABLE answer_rounds (
    answer_id  bigint NOT NULL REFERENCES answer_runs ON DELETE CASCADE,
    round      integer NOT NULL,
    signals    jsonb NOT NULL,
    decision   jsonb NOT NULL,
    chunks     jsonb NOT NULL,      -- scored chunk ids with URL and heading
    candidates jsonb NOT NULL,      -- scored link candidates
    PRIMARY KEY (answer_id, round)
);

CREATE TABLE citations (
    answer_id    bigint NOT NULL REFERENCES answer_runs ON DELETE CASCADE,
    number       integer NOT NULL,
    version_id   integer NOT NULL REFERENCES document_versions,   -- a cited version is kept
    char_start   integer NOT NULL,
    char_end     integer NOT NULL CHECK (char_end > char_start),
    quote_sha256 text NOT NULL,
    heading      text,
    score        double precision NOT NULL,
    PRIMARY KEY (answer_id, number)
);
CREATE INDEX citations_version ON citations (version_id);
