-- What pages state beside their text (JSON-LD, microdata, RDFa, relations of the head, ids), and the symbols that
-- inventories of sites list: edges come from them too.

-- of a version as it was last seen; no row for a page that states nothing, and for versions that are older than this
CREATE TABLE version_markup (
    version_id integer PRIMARY KEY REFERENCES document_versions ON DELETE CASCADE,
    content    jsonb NOT NULL,                             -- nodes, relations, anchors
    urls       text[] NOT NULL,                            -- of pages that it names
    cut        text[] NOT NULL,                            -- why a part was left out
    digest     bigint NOT NULL
);
CREATE INDEX version_markup_urls ON version_markup USING gin (urls) WHERE urls <> '{}';

-- objects of `objects.inv`: the page that documents a symbol, and the id of the place
CREATE TABLE inventory_symbols (
    source_id integer NOT NULL REFERENCES sources ON DELETE CASCADE,
    page_url  text NOT NULL,
    name      text NOT NULL,
    role      text NOT NULL,                               -- domain:role, as in the inventory
    anchor    text NOT NULL,                               -- '': the page itself
    PRIMARY KEY (source_id, page_url, name, role)
);
CREATE INDEX inventory_symbols_page ON inventory_symbols (page_url);

-- an edge that stands in no text keeps what states it, and has no span
ALTER TABLE graph_edges
    ALTER char_start DROP NOT NULL,
    ALTER char_end DROP NOT NULL,
    ADD COLUMN statement text,
    ADD CHECK ((char_start IS NULL) = (char_end IS NULL)),
    ADD CHECK (char_start IS NOT NULL
               OR statement IS NOT NULL AND kind IN ('typed', 'same_as', 'replaces', 'contains'));

ALTER TABLE graph_documents RENAME COLUMN links TO inputs; -- hash of links, markup and inventory symbols that were read
ALTER TABLE graph_documents
    DROP CONSTRAINT graph_documents_reason_check,
    ADD CHECK (reason IN ('too_many_symbols', 'too_many_edges', 'too_many_statements', 'address_too_long'));

-- entities by their name: many have an address for a key
CREATE INDEX graph_nodes_entity ON graph_nodes (lower(label)) WHERE kind = 'entity';

CREATE OR REPLACE VIEW contract.v_edge AS
SELECT e.id AS edge_id, e.document_id AS doc_id, v.number AS version, e.kind,
       s.kind AS src_kind, s.key AS src_key, t.kind AS dst_kind, t.key AS dst_key,
       e.strength, e.char_start, e.char_end, e.seen_from, e.seen_until, e.label, e.statement
FROM graph_edges e JOIN document_versions v ON v.id = e.version_id
JOIN graph_nodes s ON s.id = e.src JOIN graph_nodes t ON t.id = e.dst;
