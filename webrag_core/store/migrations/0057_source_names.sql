-- What people call a source; NULL = as its start page is titled.

ALTER TABLE sources ADD COLUMN IF NOT EXISTS name text CHECK (length(name) BETWEEN 1 AND 100);
COMMENT ON COLUMN sources.name IS 'What people call it; NULL = as its start page is titled.';
