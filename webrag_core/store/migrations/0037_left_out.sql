-- What a page showed and its stored text does not hold, and pages of which all that they show is kept.

ALTER TABLE document_versions ADD COLUMN left_out jsonb, ADD COLUMN all_text boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN document_versions.left_out IS 'characters left out by reason, white space aside, and headings that lost all below them';
COMMENT ON COLUMN document_versions.all_text IS 'whether everything that the page shows was kept, navigation included';

ALTER TABLE sources ADD COLUMN all_text boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN sources.all_text IS 'keep everything that its pages show';
ALTER TABLE documents ADD COLUMN all_text boolean;
COMMENT ON COLUMN documents.all_text IS 'the same for this page; NULL = as its source says';
