-- When a page had which text: sightings as periods, so that a later sighting no longer hides an earlier one.

CREATE TABLE version_periods (
    document_id integer NOT NULL REFERENCES documents ON DELETE CASCADE,
    version_id  integer REFERENCES document_versions ON DELETE CASCADE,  -- NULL: the page was confirmed absent
    seen_from   timestamptz NOT NULL,                      -- first and last sighting of this text
    seen_last   timestamptz NOT NULL,
    seen_until  timestamptz,                               -- first sighting of something else; NULL: none yet
    acquirer    text,                                      -- of the first sighting; NULL: before that was recorded
    basis       text NOT NULL CHECK (basis IN ('seen', 'archive', 'backfilled')),
    PRIMARY KEY (document_id, seen_from),
    CHECK (seen_from <= seen_last AND seen_last < coalesce(seen_until, 'infinity'))
) WITH (fillfactor = 85);                                  -- each check of a page moves `seen_last`
CREATE UNIQUE INDEX version_periods_open ON version_periods (document_id) WHERE seen_until IS NULL;
CREATE INDEX version_periods_version ON version_periods (version_id);

-- a line of the ledger is a sighting where it names the text: what was seen, and when it was the page's
ALTER TABLE fetch_log ADD COLUMN version_id integer, ADD COLUMN seen_at timestamptz;

-- why a text differs from the one before it: the page changed, another extractor read the same bytes, or both differ
ALTER TABLE document_versions
    ADD COLUMN body_sha256 text CHECK (length(body_sha256) = 64),
    ADD COLUMN cause text NOT NULL DEFAULT 'page' CHECK (cause IN ('page', 'extractor', 'unsure'));

SET CONSTRAINTS ALL IMMEDIATE;                             -- earlier files of one upgrade may have deferred checks
-- the first answer of an unbroken row that the page is not there
ALTER TABLE documents ADD COLUMN missing_since timestamptz;
UPDATE documents SET missing_since = last_miss WHERE misses > 0;

-- Of older versions one sighting is known, the last; of current ones the last check, when it ended well.
INSERT INTO version_periods (document_id, version_id, seen_from, seen_last, seen_until, basis)
SELECT document_id, version_id, seen_at,
       greatest(seen_at, CASE WHEN next_at IS NULL AND version_id = current_version THEN checked END),
       next_at, 'backfilled'
FROM (
    SELECT v.document_id, v.id AS version_id, v.fetched_at AS seen_at, d.current_version,
           CASE WHEN d.last_outcome IN ('fetched', 'unchanged') THEN d.last_checked END AS checked,
           lead(v.fetched_at) OVER (PARTITION BY v.document_id ORDER BY v.fetched_at, v.number) AS next_at
    FROM (SELECT DISTINCT ON (document_id, fetched_at) * FROM document_versions
          ORDER BY document_id, fetched_at, number DESC) v
    JOIN documents d ON d.id = v.document_id
) s;
-- of pages that are gone, when they were last found missing
INSERT INTO version_periods (document_id, version_id, seen_from, seen_last, basis)
SELECT d.id, NULL, g.at, g.at, 'backfilled'
FROM documents d CROSS JOIN LATERAL (SELECT coalesce(d.last_miss, d.updated_at) AS at) g
WHERE d.status = 'gone'
  AND NOT EXISTS (SELECT FROM version_periods p WHERE p.document_id = d.id AND p.seen_last >= g.at);
UPDATE version_periods p SET seen_until = g.seen_from FROM version_periods g
WHERE g.document_id = p.document_id AND g.version_id IS NULL AND p.version_id IS NOT NULL AND p.seen_until IS NULL;

CREATE VIEW contract.v_period AS
SELECT p.document_id AS doc_id, v.number AS version, p.seen_from, p.seen_last, p.seen_until
FROM version_periods p LEFT JOIN document_versions v ON v.id = p.version_id;
