-- The extractor that could not read a page of which nothing is stored. NULL: older than this, or the failure was another.

ALTER TABLE documents ADD COLUMN refused_by text;
