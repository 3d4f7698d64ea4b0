-- What sources hold, kept as their pages change: a search must not add up the sizes of a hundred thousand documents.

-- What a source holds is the sum of its rows: one, and more where transactions changed it at the same time.
CREATE TABLE source_sizes (
    id        integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source_id integer NOT NULL,
    documents bigint NOT NULL,                             -- with a row in document_sizes, and what those rows say
    parents   bigint NOT NULL,
    children  bigint NOT NULL,
    tokens    bigint NOT NULL,
    indexed   bigint NOT NULL,                             -- parents with postings, and the terms in them
    length    bigint NOT NULL
) WITH (fillfactor = 50);                                  -- room to change a row in its place
CREATE INDEX source_sizes_source ON source_sizes (source_id);

-- Nobody waits: a row that another transaction is changing is passed by.
CREATE FUNCTION add_to_source(source integer, new_documents numeric, new_parents numeric, new_children numeric,
                              new_tokens numeric, new_indexed numeric, new_length numeric)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE source_sizes SET documents = documents + new_documents, parents = parents + new_parents,
        children = children + new_children, tokens = tokens + new_tokens, indexed = indexed + new_indexed,
        length = length + new_length
    WHERE id = (SELECT s.id FROM source_sizes s WHERE s.source_id = source LIMIT 1 FOR UPDATE SKIP LOCKED);
    IF NOT FOUND THEN
        INSERT INTO source_sizes (source_id, documents, parents, children, tokens, indexed, length)
        VALUES (source, new_documents, new_parents, new_children, new_tokens, new_indexed, new_length);
    END IF;
END $$;

-- a trigger, so that no writer can forget it; its argument is 1 for rows that came, -1 for rows that went
CREATE FUNCTION count_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE sign integer := TG_ARGV[0];
BEGIN
    -- locked, so that they do not go to another source meanwhile
    PERFORM 1 FROM documents WHERE id IN (SELECT document_id FROM changed) ORDER BY id FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    IF TG_TABLE_NAME = 'document_sizes' THEN
        PERFORM add_to_source(d.source_id, sign * count(*), sign * sum(c.parents), sign * sum(c.children),
                              sign * sum(c.tokens), 0, 0)
        FROM changed c JOIN documents d ON d.id = c.document_id GROUP BY d.source_id;
    ELSE
        PERFORM add_to_source(d.source_id, 0, 0, 0, 0, sign * sum(c.parents), sign * sum(c.length))
        FROM changed c JOIN documents d ON d.id = c.document_id GROUP BY d.source_id;
    END IF;
    RETURN NULL;
END $$;
DO $$
DECLARE kept text;
BEGIN
    FOREACH kept IN ARRAY ARRAY['document_sizes', 'lexical_documents'] LOOP
        EXECUTE format('CREATE TRIGGER %1$s_came AFTER INSERT ON %1$s REFERENCING NEW TABLE AS changed'
            ' FOR EACH STATEMENT EXECUTE FUNCTION count_changed(''1'')', kept);
        EXECUTE format('CREATE TRIGGER %1$s_went AFTER DELETE ON %1$s REFERENCING OLD TABLE AS changed'
            ' FOR EACH STATEMENT EXECUTE FUNCTION count_changed(''-1'')', kept);
        EXECUTE format('CREATE TRIGGER %1$s_became AFTER UPDATE ON %1$s REFERENCING NEW TABLE AS changed'
            ' FOR EACH STATEMENT EXECUTE FUNCTION count_changed(''1'')', kept);
        EXECUTE format('CREATE TRIGGER %1$s_was AFTER UPDATE ON %1$s REFERENCING OLD TABLE AS changed'
            ' FOR EACH STATEMENT EXECUTE FUNCTION count_changed(''-1'')', kept);
    END LOOP;
END $$;

-- sizes of a document go while it is still known whose it was
CREATE FUNCTION forget_sizes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM document_sizes WHERE document_id = OLD.id;
    DELETE FROM lexical_documents WHERE document_id = OLD.id;
    RETURN OLD;
END $$;
CREATE TRIGGER documents_forgotten BEFORE DELETE ON documents FOR EACH ROW EXECUTE FUNCTION forget_sizes();

CREATE FUNCTION move_sizes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM add_to_source(n.source, n.sign, n.sign * z.parents, n.sign * z.children, n.sign * z.tokens, 0, 0)
    FROM document_sizes z, (VALUES (OLD.source_id, -1), (NEW.source_id, 1)) AS n (source, sign)
    WHERE z.document_id = NEW.id;
    PERFORM add_to_source(n.source, 0, 0, 0, 0, n.sign * l.parents, n.sign * l.length)
    FROM lexical_documents l, (VALUES (OLD.source_id, -1), (NEW.source_id, 1)) AS n (source, sign)
    WHERE l.document_id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER documents_moved AFTER UPDATE OF source_id ON documents FOR EACH ROW
    WHEN (OLD.source_id <> NEW.source_id) EXECUTE FUNCTION move_sizes();

CREATE FUNCTION forget_source_sizes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM source_sizes WHERE source_id = OLD.id;
    RETURN NULL;
END $$;
CREATE TRIGGER sources_forgotten AFTER DELETE ON sources FOR EACH ROW EXECUTE FUNCTION forget_source_sizes();

INSERT INTO source_sizes (source_id, documents, parents, children, tokens, indexed, length)
SELECT d.source_id, count(z.document_id), coalesce(sum(z.parents), 0), coalesce(sum(z.children), 0),
       coalesce(sum(z.tokens), 0), coalesce(sum(l.parents), 0), coalesce(sum(l.length), 0)
FROM documents d LEFT JOIN document_sizes z ON z.document_id = d.id LEFT JOIN lexical_documents l ON l.document_id = d.id
GROUP BY d.source_id;

-- How common a frequent term is: the share of parents that hold it, by code (its frequency in the parent, 0 for more than
-- 7). NULL: few hold it, and a search counts them.
ALTER TABLE lexical_terms ADD COLUMN shares real[];
-- the parents that the shares were last counted in
CREATE TABLE counted_terms (
    one     boolean PRIMARY KEY DEFAULT true CHECK (one),
    parents bigint NOT NULL
);
