-- The language and type of pages, by a number: filters by them are conditions on documents, and what they hold is kept
-- as for sources. Triggers, so that no writer can forget it.

SET CONSTRAINTS ALL IMMEDIATE;                             -- earlier files of one upgrade may have deferred checks

-- twice where two transactions met one for the first time: nobody waits
CREATE TABLE page_kinds (
    id       integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    language text NOT NULL,                                -- as language_of has it; '': not known
    declared text NOT NULL,                                -- by the page where its text shows another one; else ''
    type     text NOT NULL                                 -- html, pdf, text, office; else ''
);
CREATE INDEX page_kinds_words ON page_kinds (language, declared, type);

-- What a page declares may be any words: of it stays language, script and region (BCP 47), which filters match.
CREATE FUNCTION tag_of(language text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN coalesce(substring(left(lower(replace(language, '_', '-')), 35)
    FROM '^[a-z]{2,3}(?:-[a-z]{4})?(?:-(?:[a-z]{2}|[0-9]{3}))?(?=-|$)'), '');

CREATE FUNCTION kind_words(INOUT declared text, detected text, media_type text, OUT language text, OUT type text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN language_group(declared) <> language_group(l.language) THEN tag_of(declared) ELSE '' END,
           tag_of(l.language),
           CASE WHEN media_type IN ('text/html', 'application/xhtml+xml') THEN 'html'
                WHEN media_type = 'application/pdf' THEN 'pdf'
                WHEN media_type LIKE 'text/%' THEN 'text'
                WHEN media_type = 'application/epub+zip' OR media_type LIKE 'application/vnd.%' THEN 'office'
                ELSE '' END
    FROM (SELECT language_of(declared, detected) AS language) l
$$;

CREATE FUNCTION kind_of(version integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    words record;
    kind  integer;
BEGIN
    SELECT w.* INTO words FROM document_versions v, kind_words(v.language, v.detected_language, v.media_type) w
    WHERE v.id = version;
    IF NOT FOUND THEN                                      -- the reference is checked later
        RETURN 0;
    END IF;
    SELECT min(k.id) INTO kind FROM page_kinds k
    WHERE k.language = words.language AND k.declared = words.declared AND k.type = words.type;
    IF kind IS NULL THEN
        INSERT INTO page_kinds (language, declared, type) VALUES (words.language, words.declared, words.type)
        RETURNING id INTO kind;
    END IF;
    RETURN kind;
END $$;

ALTER TABLE documents ADD COLUMN kind integer NOT NULL DEFAULT 0;
COMMENT ON COLUMN documents.kind IS 'language and type of the current version, and of the last one; 0 = there was none: a writer that names a version before it writes it names it again';
INSERT INTO page_kinds (language, declared, type)
SELECT DISTINCT w.language, w.declared, w.type FROM documents d JOIN document_versions v ON v.id = d.current_version
CROSS JOIN LATERAL kind_words(v.language, v.detected_language, v.media_type) w;
UPDATE documents d SET kind = k.id
FROM document_versions v CROSS JOIN LATERAL kind_words(v.language, v.detected_language, v.media_type) w, page_kinds k
WHERE v.id = d.current_version AND (k.language, k.declared, k.type) = (w.language, w.declared, w.type);
CREATE INDEX documents_kind ON documents (kind);

-- A filter by dates lists its pages: it reads those, not all.
CREATE INDEX document_versions_published ON document_versions (published) INCLUDE (id, document_id)
    WHERE published IS NOT NULL;
CREATE INDEX document_versions_modified ON document_versions (modified) INCLUDE (id, document_id)
    WHERE modified IS NOT NULL;
CREATE INDEX document_versions_fetched ON document_versions (fetched_at) INCLUDE (id, document_id);
CREATE INDEX document_versions_dated ON document_versions (coalesce(modified, published)) INCLUDE (id, document_id);

CREATE FUNCTION note_kind() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.kind := kind_of(NEW.current_version);
    RETURN NEW;
END $$;
CREATE TRIGGER documents_kind BEFORE INSERT OR UPDATE OF current_version ON documents
    FOR EACH ROW WHEN (NEW.current_version IS NOT NULL) EXECUTE FUNCTION note_kind();

CREATE FUNCTION note_other_kind() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE documents SET kind = kind_of(NEW.id) WHERE id = NEW.document_id AND current_version = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER versions_kind AFTER UPDATE OF language, detected_language, media_type ON document_versions FOR EACH ROW
    WHEN ((OLD.language, OLD.detected_language, OLD.media_type)
          IS DISTINCT FROM (NEW.language, NEW.detected_language, NEW.media_type))
    EXECUTE FUNCTION note_other_kind();

-- What pages of a kind hold in a source is the sum of its rows.
TRUNCATE source_sizes;
ALTER TABLE source_sizes ADD COLUMN kind integer NOT NULL;
INSERT INTO source_sizes (source_id, kind, documents, parents, children, tokens, indexed, length)
SELECT d.source_id, d.kind, count(z.document_id), coalesce(sum(z.parents), 0), coalesce(sum(z.children), 0),
       coalesce(sum(z.tokens), 0), coalesce(sum(l.parents), 0), coalesce(sum(l.length), 0)
FROM documents d LEFT JOIN document_sizes z ON z.document_id = d.id LEFT JOIN lexical_documents l ON l.document_id = d.id
WHERE z.document_id IS NOT NULL OR l.document_id IS NOT NULL GROUP BY 1, 2;
DROP INDEX source_sizes_source;
CREATE INDEX source_sizes_source ON source_sizes (source_id, kind);

-- Nobody waits: a row that another transaction is changing is passed by.
DROP FUNCTION add_to_source;
CREATE FUNCTION add_to_source(source integer, of_kind integer, new_documents numeric, new_parents numeric,
                              new_children numeric, new_tokens numeric, new_indexed numeric, new_length numeric)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE source_sizes SET documents = documents + new_documents, parents = parents + new_parents,
        children = children + new_children, tokens = tokens + new_tokens, indexed = indexed + new_indexed,
        length = length + new_length
    WHERE id = (SELECT s.id FROM source_sizes s WHERE s.source_id = source AND s.kind = of_kind LIMIT 1
                FOR UPDATE SKIP LOCKED);
    IF NOT FOUND THEN
        INSERT INTO source_sizes (source_id, kind, documents, parents, children, tokens, indexed, length)
        VALUES (source, of_kind, new_documents, new_parents, new_children, new_tokens, new_indexed, new_length);
    END IF;
END $$;

CREATE OR REPLACE FUNCTION count_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE sign integer := TG_ARGV[0];
BEGIN
    -- locked, so that they do not go to another source or kind meanwhile
    PERFORM 1 FROM documents WHERE id IN (SELECT document_id FROM changed) ORDER BY id FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    IF TG_TABLE_NAME = 'document_sizes' THEN
        PERFORM add_to_source(d.source_id, d.kind, sign * count(*), sign * sum(c.parents), sign * sum(c.children),
                              sign * sum(c.tokens), 0, 0)
        FROM changed c JOIN documents d ON d.id = c.document_id GROUP BY d.source_id, d.kind;
    ELSE
        PERFORM add_to_source(d.source_id, d.kind, 0, 0, 0, 0, sign * sum(c.parents), sign * sum(c.length))
        FROM changed c JOIN documents d ON d.id = c.document_id GROUP BY d.source_id, d.kind;
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION move_sizes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM add_to_source(n.source, n.kind, n.sign * num_nonnulls(z.document_id), n.sign * coalesce(z.parents, 0),
                          n.sign * coalesce(z.children, 0), n.sign * coalesce(z.tokens, 0),
                          n.sign * coalesce(l.parents, 0), n.sign * coalesce(l.length, 0))
    FROM (SELECT * FROM document_sizes WHERE document_id = NEW.id) z
    FULL JOIN (SELECT * FROM lexical_documents WHERE document_id = NEW.id) l ON l.document_id = z.document_id
    CROSS JOIN (VALUES (OLD.source_id, OLD.kind, -1), (NEW.source_id, NEW.kind, 1)) AS n (source, kind, sign);
    RETURN NULL;
END $$;
DROP TRIGGER documents_moved ON documents;
-- fires before documents_measured, by its name: what that takes away was moved before
CREATE TRIGGER documents_counted AFTER UPDATE OF source_id, kind, current_version ON documents FOR EACH ROW
    WHEN (OLD.source_id <> NEW.source_id OR OLD.kind <> NEW.kind) EXECUTE FUNCTION move_sizes();
