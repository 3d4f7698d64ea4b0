-- The months of the dates of pages, by a number: a filter by dates is a condition on documents, and what whole months
-- hold is kept as for kinds. The pages of the months at its ends are read. Triggers, so that no writer can forget it.

SET CONSTRAINTS ALL IMMEDIATE;                             -- earlier files of one upgrade may have deferred checks

CREATE FUNCTION month_of(moment timestamptz) RETURNS date LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN coalesce(date_trunc('month', moment AT TIME ZONE 'UTC')::date, 'infinity');

-- twice where two transactions met one for the first time: nobody waits
CREATE TABLE page_months (
    id        integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    published date NOT NULL,                               -- first day in UTC; infinity: without this date
    modified  date NOT NULL
);
CREATE INDEX page_months_dates ON page_months (published, modified);

CREATE FUNCTION months_of(version integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    dates  record;
    months integer;
BEGIN
    SELECT month_of(v.published) AS published, month_of(v.modified) AS modified INTO dates
    FROM document_versions v WHERE v.id = version AND (v.published IS NOT NULL OR v.modified IS NOT NULL);
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    SELECT min(m.id) INTO months FROM page_months m WHERE m.published = dates.published AND m.modified = dates.modified;
    IF months IS NULL THEN
        INSERT INTO page_months (published, modified) VALUES (dates.published, dates.modified) RETURNING id INTO months;
    END IF;
    RETURN months;
END $$;

ALTER TABLE documents ADD COLUMN months integer NOT NULL DEFAULT 0;
COMMENT ON COLUMN documents.months IS 'months of the dates of the current version, and of the last one; 0 = it has none, or there was none';
INSERT INTO page_months (published, modified)
SELECT DISTINCT month_of(v.published), month_of(v.modified)
FROM documents d JOIN document_versions v ON v.id = d.current_version
WHERE v.published IS NOT NULL OR v.modified IS NOT NULL;
UPDATE documents d SET months = m.id FROM document_versions v, page_months m
WHERE v.id = d.current_version AND (v.published IS NOT NULL OR v.modified IS NOT NULL)
  AND (m.published, m.modified) = (month_of(v.published), month_of(v.modified));
CREATE INDEX documents_months ON documents (months);
DROP INDEX documents_source;                               -- documents_next_check begins with it

CREATE OR REPLACE FUNCTION note_kind() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.kind := kind_of(NEW.current_version);
    NEW.months := months_of(NEW.current_version);
    RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION note_other_kind() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE documents SET kind = kind_of(NEW.id), months = months_of(NEW.id)
    WHERE id = NEW.document_id AND current_version = NEW.id;
    RETURN NULL;
END $$;
DROP TRIGGER versions_kind ON document_versions;
CREATE TRIGGER versions_kind AFTER UPDATE OF language, detected_language, media_type, published, modified
    ON document_versions FOR EACH ROW
    WHEN ((OLD.language, OLD.detected_language, OLD.media_type, OLD.published, OLD.modified)
          IS DISTINCT FROM (NEW.language, NEW.detected_language, NEW.media_type, NEW.published, NEW.modified))
    EXECUTE FUNCTION note_other_kind();

-- What pages with dates hold, by source, kind and months, is the sum of its rows.
CREATE TABLE month_sizes (
    id        integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    months    integer NOT NULL,
    source_id integer NOT NULL,
    kind      integer NOT NULL,
    documents bigint NOT NULL,                             -- as in source_sizes
    parents   bigint NOT NULL,
    children  bigint NOT NULL,
    tokens    bigint NOT NULL,
    indexed   bigint NOT NULL,
    length    bigint NOT NULL
) WITH (fillfactor = 50);
INSERT INTO month_sizes (months, source_id, kind, documents, parents, children, tokens, indexed, length)
SELECT d.months, d.source_id, d.kind, count(z.document_id), coalesce(sum(z.parents), 0), coalesce(sum(z.children), 0),
       coalesce(sum(z.tokens), 0), coalesce(sum(l.parents), 0), coalesce(sum(l.length), 0)
FROM documents d LEFT JOIN document_sizes z ON z.document_id = d.id LEFT JOIN lexical_documents l ON l.document_id = d.id
WHERE d.months <> 0 AND (z.document_id IS NOT NULL OR l.document_id IS NOT NULL) GROUP BY 1, 2, 3;
CREATE INDEX month_sizes_months ON month_sizes (months, source_id, kind);

-- Nobody waits: a row that another transaction is changing is passed by.
DROP FUNCTION add_to_source;
CREATE FUNCTION add_to_source(source integer, of_kind integer, of_months integer, new_documents numeric,
                              new_parents numeric, new_children numeric, new_tokens numeric, new_indexed numeric,
                              new_length numeric)
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
    IF of_months = 0 THEN
        RETURN;
    END IF;
    UPDATE month_sizes SET documents = documents + new_documents, parents = parents + new_parents,
        children = children + new_children, tokens = tokens + new_tokens, indexed = indexed + new_indexed,
        length = length + new_length
    WHERE id = (SELECT s.id FROM month_sizes s WHERE s.months = of_months AND s.source_id = source AND s.kind = of_kind
                LIMIT 1 FOR UPDATE SKIP LOCKED);
    IF NOT FOUND THEN
        INSERT INTO month_sizes (months, source_id, kind, documents, parents, children, tokens, indexed, length)
        VALUES (of_months, source, of_kind, new_documents, new_parents, new_children, new_tokens, new_indexed,
                new_length);
    END IF;
END $$;

CREATE OR REPLACE FUNCTION count_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE sign integer := TG_ARGV[0];
BEGIN
    -- locked, so that they do not go to another source, kind or month meanwhile
    PERFORM 1 FROM documents WHERE id IN (SELECT document_id FROM changed) ORDER BY id FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    IF TG_TABLE_NAME = 'document_sizes' THEN
        PERFORM add_to_source(d.source_id, d.kind, d.months, sign * count(*), sign * sum(c.parents),
                              sign * sum(c.children), sign * sum(c.tokens), 0, 0)
        FROM changed c JOIN documents d ON d.id = c.document_id GROUP BY d.source_id, d.kind, d.months;
    ELSE
        PERFORM add_to_source(d.source_id, d.kind, d.months, 0, 0, 0, 0, sign * sum(c.parents), sign * sum(c.length))
        FROM changed c JOIN documents d ON d.id = c.document_id GROUP BY d.source_id, d.kind, d.months;
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION move_sizes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM add_to_source(n.source, n.kind, n.months, n.sign * num_nonnulls(z.document_id),
                          n.sign * coalesce(z.parents, 0), n.sign * coalesce(z.children, 0),
                          n.sign * coalesce(z.tokens, 0), n.sign * coalesce(l.parents, 0),
                          n.sign * coalesce(l.length, 0))
    FROM (SELECT * FROM document_sizes WHERE document_id = NEW.id) z
    FULL JOIN (SELECT * FROM lexical_documents WHERE document_id = NEW.id) l ON l.document_id = z.document_id
    CROSS JOIN (VALUES (OLD.source_id, OLD.kind, OLD.months, -1), (NEW.source_id, NEW.kind, NEW.months, 1))
        AS n (source, kind, months, sign);
    RETURN NULL;
END $$;
DROP TRIGGER documents_counted ON documents;
-- fires before documents_measured, by its name: what that takes away was moved before
CREATE TRIGGER documents_counted AFTER UPDATE OF source_id, kind, months, current_version ON documents FOR EACH ROW
    WHEN (OLD.source_id <> NEW.source_id OR OLD.kind <> NEW.kind OR OLD.months <> NEW.months)
    EXECUTE FUNCTION move_sizes();

CREATE OR REPLACE FUNCTION forget_source_sizes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM source_sizes WHERE source_id = OLD.id;
    DELETE FROM month_sizes WHERE source_id = OLD.id;
    RETURN NULL;
END $$;
