-- Where a web archive keeps the copy that a version was read from: references of answers name it.

ALTER TABLE document_versions ADD COLUMN IF NOT EXISTS archive_url text;
