-- State instead of history: what the invariants ask of a page stands in its row, so that old lines can be deleted.

ALTER TABLE documents
    ADD COLUMN last_outcome      text CHECK (last_outcome IN ('fetched', 'unchanged', 'failed', 'skipped')),
    ADD COLUMN last_reason       text,
    ADD COLUMN last_run          text,
    ADD COLUMN last_fetch        bigint,                   -- its newest line in fetch_log, as long as that is kept
    ADD COLUMN last_fetch_at     timestamptz,
    ADD COLUMN announced_version integer,                  -- what the outbox announced last
    ADD COLUMN announcement      bigint,                   -- the line in corpus_log, as long as that is kept
    ADD COLUMN announced_at      timestamptz;

UPDATE documents d SET last_outcome = f.outcome, last_reason = f.reason, last_run = f.run_id, last_fetch = f.id,
    last_fetch_at = f.ended_at
FROM (
    SELECT DISTINCT ON (document_id) * FROM (
        SELECT o.id AS document_id, l.* FROM fetch_log l JOIN documents o ON o.canonical_url = l.final_url
        UNION ALL SELECT o.id, l.* FROM fetch_log l JOIN documents o ON o.canonical_url = l.url
        UNION ALL SELECT a.document_id, l.* FROM fetch_log l JOIN url_aliases a ON a.url = l.url
    ) lines ORDER BY document_id, id DESC
) f
WHERE f.document_id = d.id;

UPDATE documents d SET announced_version = l.version_id, announcement = l.id, announced_at = l.logged_at
FROM (
    SELECT DISTINCT ON (document_id, version_id) * FROM corpus_log WHERE change = 'version'
    ORDER BY document_id, version_id, id DESC
) l
WHERE l.document_id = d.id AND l.version_id = d.current_version;

-- before which time lines may have been deleted: their absence is no fault then
CREATE TABLE retention_horizons (
    history       text PRIMARY KEY CHECK (history IN ('fetch_log', 'corpus_log')),
    pruned_before timestamptz NOT NULL
);

ALTER TABLE refresh_runs ADD COLUMN removed integer NOT NULL DEFAULT 0;  -- lines of its pages that were forgotten

CREATE INDEX fetch_log_run ON fetch_log (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX fetch_log_final_url ON fetch_log USING hash (final_url);
CREATE INDEX fetch_log_ended ON fetch_log USING brin (ended_at);
-- by equality and by prefix, in whatever collation the database has; a whole URL can be too long for an index
CREATE INDEX link_candidates_target ON link_candidates (left(target_url, 500) text_pattern_ops);

-- when a text stopped being the current one, and when it was deleted (its hash and its times stay)
ALTER TABLE document_versions
    ALTER COLUMN markdown DROP NOT NULL,
    ADD COLUMN superseded_at timestamptz,
    ADD COLUMN pruned_at timestamptz,
    ADD CHECK ((markdown IS NULL) = (pruned_at IS NOT NULL));

CREATE FUNCTION mark_superseded() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE document_versions SET superseded_at = now()
    WHERE document_id = NEW.id AND id IS DISTINCT FROM NEW.current_version AND superseded_at IS NULL
      AND (NEW.status = 'gone'
           OR fetched_at <= (SELECT c.fetched_at FROM document_versions c WHERE c.id = NEW.current_version));
    UPDATE document_versions SET superseded_at = NULL
    WHERE id = NEW.current_version AND superseded_at IS NOT NULL;
    RETURN NULL;
END $$;
CREATE TRIGGER documents_superseded AFTER UPDATE OF current_version ON documents
    FOR EACH ROW EXECUTE FUNCTION mark_superseded();

UPDATE document_versions v SET superseded_at = now() FROM documents d
WHERE d.id = v.document_id AND v.id IS DISTINCT FROM d.current_version
  AND (d.status = 'gone'
       OR v.fetched_at <= (SELECT c.fetched_at FROM document_versions c WHERE c.id = d.current_version));
