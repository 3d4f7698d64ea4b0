-- Several sections per host, each a source of its own. A page belongs to the source with the longest prefix.

ALTER TABLE sources
    ADD COLUMN host  text GENERATED ALWAYS AS (split_part(key, '/', 1)) STORED,
    ADD COLUMN place text GENERATED ALWAYS AS (split_part(key, '/', 1) || path_prefix) STORED; -- URLs begin with it

-- `/a/` also holds `/a`, which sites redirect to it
CREATE FUNCTION in_section(url text, place text) RETURNS boolean IMMUTABLE PARALLEL SAFE LANGUAGE sql AS $$
    SELECT starts_with(substr(url, strpos(url, '://') + 3), place)
        OR split_part(substr(url, strpos(url, '://') + 3), '?', 1) || '/' = place
$$;

-- sources that hold no page and were never attached: mistyped hosts
DELETE FROM sources s WHERE s.page_limit IS NULL AND s.declared_in IS NULL AND NOT EXISTS
    (SELECT FROM documents d JOIN document_versions v ON v.document_id = d.id WHERE d.source_id = s.id);

-- one source per host becomes one per section, and one for the host's other pages where there are any
UPDATE sources SET path_prefix = '/' WHERE page_limit IS NULL;
UPDATE sources SET key = key || rtrim(path_prefix, '/') WHERE rtrim(path_prefix, '/') <> '';
ALTER TABLE sources ADD CHECK (key = split_part(key, '/', 1) || rtrim(path_prefix, '/'));
CREATE INDEX sources_host ON sources (host);

CREATE TEMP TABLE outside ON COMMIT DROP AS
SELECT d.id, s.host, EXISTS (SELECT FROM document_versions v WHERE v.document_id = d.id) AS stored
FROM documents d JOIN sources s ON s.id = d.source_id WHERE NOT in_section(d.canonical_url, s.place);
INSERT INTO sources (key) SELECT DISTINCT host FROM outside WHERE stored;
UPDATE documents d SET source_id = s.id FROM outside o JOIN sources s ON s.key = o.host WHERE d.id = o.id;
DELETE FROM documents d USING outside o WHERE d.id = o.id AND d.source_id NOT IN (SELECT id FROM sources WHERE key = o.host);

CREATE FUNCTION source_of(url text) RETURNS integer STABLE LANGUAGE sql AS $$
    SELECT id FROM sources WHERE host = split_part(url, '/', 3) AND in_section(url, place)
    ORDER BY length(place) DESC LIMIT 1
$$;

-- followers of the corpus hear of sources with another key
INSERT INTO corpus_log (source_id, document_id, version_id, change)
SELECT DISTINCT ON (d.source_id) d.source_id, d.id, d.current_version, 'version' FROM documents d
WHERE d.current_version IS NOT NULL AND d.source_id IN
    (SELECT s.id FROM sources s WHERE s.host IN (SELECT host FROM sources WHERE path_prefix <> '/'))
ORDER BY d.source_id, d.id;

-- URLs that a source knows of and leaves out, each with its latest reason: said in the ledger once
CREATE TABLE skipped_urls (
    source_id integer NOT NULL REFERENCES sources ON DELETE CASCADE,
    url       text NOT NULL,
    reason    text NOT NULL,
    PRIMARY KEY (source_id, url)
);
INSERT INTO skipped_urls (source_id, url, reason)
SELECT source, url, reason FROM (
    SELECT url, reason, source_of(url) AS source FROM (
        SELECT DISTINCT ON (url) url, reason FROM fetch_log WHERE outcome = 'skipped' ORDER BY url, id DESC) f OFFSET 0) k
WHERE source IS NOT NULL;

-- later migrations may alter these tables in the same transaction
SET CONSTRAINTS ALL IMMEDIATE;
SET CONSTRAINTS ALL DEFERRED;
