-- A refresh that its site answered: with a page, or, where no page failed, with its map. Freshness is judged by the last.

ALTER TABLE refresh_runs ADD COLUMN IF NOT EXISTS answered boolean NOT NULL
    GENERATED ALWAYS AS (fetched + unchanged > 0 OR failed = 0 AND coalesce(map_entries, 0) > 0) STORED;
CREATE INDEX IF NOT EXISTS refresh_runs_answered ON refresh_runs (source_id, started_at DESC) WHERE answered;
COMMENT ON COLUMN refresh_runs.answered IS 'whether the site answered: with a page, or, no page failing, with its map';

-- Who looks after a source, and since when it has been kept without a pause: a source that was paused, or that nobody
-- kept, is not late for the time before. A trigger, so that no way of attaching can forget it.

ALTER TABLE sources ADD COLUMN IF NOT EXISTS owners text[] NOT NULL DEFAULT '{}';
ALTER TABLE sources ADD COLUMN IF NOT EXISTS kept_since timestamptz NOT NULL DEFAULT now();
UPDATE sources SET kept_since = created_at;
COMMENT ON COLUMN sources.owners IS 'Whom alerts name: e-mail addresses, or team:name.';
COMMENT ON COLUMN sources.kept_since IS 'When it was attached, or resumed after a pause, last.';

CREATE OR REPLACE FUNCTION keep_source_from_now() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.kept_since := now();
    RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER sources_kept BEFORE UPDATE OF paused, page_limit ON sources FOR EACH ROW
    WHEN ((OLD.paused OR OLD.page_limit IS NULL) AND NOT NEW.paused AND NEW.page_limit IS NOT NULL)
    EXECUTE FUNCTION keep_source_from_now();
