-- Whether a site answers the looks for changes in between refreshes: a monthly source that is down would be noticed after
-- three months otherwise.

ALTER TABLE sources ADD COLUMN IF NOT EXISTS look_answered_at timestamptz;
ALTER TABLE sources ADD COLUMN IF NOT EXISTS look_failed_since timestamptz;
COMMENT ON COLUMN sources.look_answered_at IS 'Last look at its change signals that its site answered.';
COMMENT ON COLUMN sources.look_failed_since IS 'First look after that one in which every request failed.';
