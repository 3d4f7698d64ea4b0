-- A question may follow an earlier answer. A conversation bears the number of the answer that it began with.
ALTER TABLE answer_runs
    ADD COLUMN IF NOT EXISTS follows bigint REFERENCES answer_runs (id) ON DELETE SET NULL,
    ADD COLUMN IF NOT EXISTS conversation bigint;
CREATE INDEX IF NOT EXISTS answer_runs_follows ON answer_runs (follows) WHERE follows IS NOT NULL;
CREATE INDEX IF NOT EXISTS answer_runs_conversation ON answer_runs (conversation, id) WHERE conversation IS NOT NULL;
