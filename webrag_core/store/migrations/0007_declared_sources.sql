-- Sources that a file declares, how often they are looked at, and an outbox that followers read without losing a line.

ALTER TABLE sources
    ADD COLUMN declared_in   text,                         -- what declares it; NULL = the command line, or a run found it
    ADD COLUMN refresh_hours double precision CHECK (refresh_hours > 0),  -- NULL = the setting for all pages
    ADD COLUMN watch_minutes double precision CHECK (watch_minutes > 0),  -- between two looks at its change signals
    ADD COLUMN shards        integer NOT NULL DEFAULT 1 CHECK (shards BETWEEN 1 AND 99),
    ADD COLUMN acquirer      text CHECK (acquirer IN ('http', 'firecrawl')),  -- NULL = as the settings say
    ADD COLUMN pool          text,                         -- runs of one pool are limited together
    ADD COLUMN follow        text NOT NULL DEFAULT 'links' CHECK (follow IN ('none', 'map', 'links')),
    ADD COLUMN watched_at    timestamptz,
    ADD COLUMN watch_token   text;                         -- of a frozen site: which snapshot was looked at

ALTER TABLE refresh_runs ADD COLUMN shard integer NOT NULL DEFAULT 0;
CREATE INDEX refresh_runs_last ON refresh_runs (source_id, shard, started_at DESC);

-- Ids are drawn before their transactions end, so a follower that remembers an id would miss the lines of slow ones.
-- The transaction tells which lines can no longer be joined by earlier ones.
ALTER TABLE corpus_log ADD COLUMN written_by xid8 NOT NULL DEFAULT pg_current_xact_id();
CREATE INDEX corpus_log_written_by ON corpus_log (written_by);
