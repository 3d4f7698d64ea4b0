-- Lists that read what they show, however much is stored.

SET CONSTRAINTS ALL IMMEDIATE;                             -- earlier files of one upgrade may have deferred checks

-- Runs that gathered evidence before that was noted: the answers that used them name them.
UPDATE answer_runs SET origin = 'answer'
WHERE kind = 'evidence' AND origin IS NULL AND id IN (
    SELECT e::bigint FROM answer_runs p
    CROSS JOIN LATERAL jsonb_array_elements_text(p.prose -> 'evidence_ids') e WHERE p.kind = 'prose');
CREATE INDEX answer_runs_listed ON answer_runs (id) WHERE state <> 'failed' AND origin IS DISTINCT FROM 'answer';

-- The text of a page that was read last, so that pages whose newest text waits to become the current one are few rows of
-- an index. A trigger, so that no writer can forget it.
ALTER TABLE documents ADD COLUMN newest_version integer;
UPDATE documents d SET newest_version = n.id
FROM (SELECT DISTINCT ON (document_id) document_id, id FROM document_versions
      ORDER BY document_id, fetched_at DESC, number DESC) n
WHERE n.document_id = d.id;
-- a column, as the planner counts its values: of two columns it would guess that most differ
ALTER TABLE documents
    ADD COLUMN waiting boolean NOT NULL GENERATED ALWAYS AS (newest_version IS DISTINCT FROM current_version) STORED;
CREATE INDEX documents_waiting ON documents (source_id) WHERE waiting AND status <> 'gone';
COMMENT ON COLUMN documents.newest_version IS 'version that was read last';
COMMENT ON COLUMN documents.waiting IS 'whether that is not the current one';

CREATE FUNCTION note_newest_version() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    changed integer := CASE TG_OP WHEN 'DELETE' THEN OLD.document_id ELSE NEW.document_id END;
    newest integer := (SELECT id FROM document_versions WHERE document_id = changed
                       ORDER BY fetched_at DESC, number DESC LIMIT 1);
BEGIN
    UPDATE documents SET newest_version = newest WHERE id = changed AND newest_version IS DISTINCT FROM newest;
    RETURN NULL;
END $$;
CREATE TRIGGER versions_newest AFTER INSERT OR DELETE OR UPDATE OF fetched_at, document_id ON document_versions
    FOR EACH ROW EXECUTE FUNCTION note_newest_version();

-- the latest changes of all pages
CREATE INDEX version_periods_seen ON version_periods (seen_from);

-- texts that another reader of dates looked through, or none
CREATE INDEX document_versions_dates_read ON document_versions (dates_read) WHERE pruned_at IS NULL;
