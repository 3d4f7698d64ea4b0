-- Pages whose address and title nobody looked at for other versions beside them are few rows of an index: the history of
-- a page looks for them each time. Triggers, so that no writer can forget it.

SET CONSTRAINTS ALL IMMEDIATE;                             -- earlier files of one upgrade may have deferred checks

ALTER TABLE documents ADD COLUMN work_version integer;
UPDATE documents d SET work_version = w.version_id
FROM work_pages w, sources s
WHERE w.document_id = d.id AND s.id = d.source_id AND w.pattern = coalesce(s.versions_in_path, '');
DROP TABLE work_pages;
ALTER TABLE documents ADD COLUMN work_unread boolean NOT NULL
    GENERATED ALWAYS AS (current_version IS NOT NULL AND work_version IS DISTINCT FROM current_version) STORED;
CREATE INDEX documents_work_unread ON documents (id) WHERE work_unread;
COMMENT ON COLUMN documents.work_version IS 'version whose title, with the address, was looked at for other versions';
COMMENT ON COLUMN documents.work_unread IS 'whether that is not the current one';

CREATE FUNCTION look_again_for_works() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE documents SET work_version = NULL WHERE source_id = NEW.id AND work_version IS NOT NULL;
    RETURN NULL;
END $$;
CREATE TRIGGER sources_pattern AFTER UPDATE OF versions_in_path ON sources
    FOR EACH ROW WHEN (OLD.versions_in_path IS DISTINCT FROM NEW.versions_in_path)
    EXECUTE FUNCTION look_again_for_works();

CREATE FUNCTION look_again_for_works_of_page() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.work_version := NULL;
    RETURN NEW;
END $$;
CREATE TRIGGER documents_left_work BEFORE UPDATE OF source_id, canonical_url ON documents
    FOR EACH ROW WHEN (OLD.source_id IS DISTINCT FROM NEW.source_id OR OLD.canonical_url IS DISTINCT FROM NEW.canonical_url)
    EXECUTE FUNCTION look_again_for_works_of_page();
