-- The graph: what current pages say about each other, every edge with the span that says so.

CREATE TABLE graph_nodes (
    id        integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind      text NOT NULL CHECK (kind IN ('page', 'section', 'symbol', 'term', 'entity')),
    key       text NOT NULL CHECK (key <> ''),
    label     text NOT NULL,                               -- as a reader would write it; of a page empty
    degree_in integer NOT NULL DEFAULT 0,                  -- live edges to it, counted after bulk writes
    UNIQUE (key, kind)
) WITH (fillfactor = 90);                                  -- counting moves `degree_in` alone
-- a key by its end: `Queue.get`, `asyncio-queue.html`
CREATE INDEX graph_nodes_end ON graph_nodes (reverse(key) text_pattern_ops);

-- No foreign keys: they would be half of what writing costs. `webrag verify` checks what they would promise.
CREATE TABLE graph_edges (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    document_id integer NOT NULL,                          -- whose text says so
    version_id  integer NOT NULL,                          -- the newest version of it that does
    src         integer NOT NULL,
    dst         integer NOT NULL,
    place       integer NOT NULL,                          -- section in which it stands; the page where there is none
    kind        text NOT NULL CHECK (kind IN ('contains', 'links_to', 'defines', 'mentions', 'see_also', 'same_as',
                'replaces', 'deprecates', 'cites', 'modifies', 'typed')),
    strength    real NOT NULL CHECK (strength > 0 AND strength <= 1),
    origin      text NOT NULL CHECK (origin IN ('explicit', 'inferred', 'model')),
    label       text,                                      -- anchor text, or the property of a typed edge
    char_start  integer NOT NULL CHECK (char_start >= 0),
    char_end    integer NOT NULL CHECK (char_end > char_start),
    seen_from   timestamptz NOT NULL,                      -- first sighting of the version that said so first
    seen_until  timestamptz,                               -- first sighting of the text that no longer does
    CHECK (seen_until IS NULL OR seen_from < seen_until)
) WITH (fillfactor = 50);                                  -- edges of a page move to a new version all at once, in place
CREATE INDEX graph_edges_out ON graph_edges (src, kind, strength DESC) INCLUDE (dst, id) WHERE seen_until IS NULL;
CREATE INDEX graph_edges_in ON graph_edges (dst, kind, strength DESC) INCLUDE (src, id) WHERE seen_until IS NULL;
CREATE INDEX graph_edges_document ON graph_edges (document_id);
CREATE INDEX graph_edges_past_out ON graph_edges (src, kind, seen_from) WHERE seen_until IS NOT NULL;
CREATE INDEX graph_edges_past_in ON graph_edges (dst, kind, seen_from) WHERE seen_until IS NOT NULL;

-- for which version, by which extraction and under which source the edges of a page were made
CREATE TABLE graph_documents (
    document_id integer PRIMARY KEY REFERENCES documents ON DELETE CASCADE,
    version_id  integer,                                   -- NULL: the page left the index
    extraction  text NOT NULL,
    source_key  text NOT NULL,                             -- symbols are named after it
    links       bigint NOT NULL,                           -- hash of the link candidates that were read
    edges       integer NOT NULL,
    reason      text CHECK (reason IN ('too_many_symbols', 'too_many_edges', 'address_too_long')), -- why some are left out
    counted     boolean NOT NULL DEFAULT false             -- whether `degree_in` of its targets is up to date
);
CREATE INDEX graph_documents_uncounted ON graph_documents (document_id) WHERE NOT counted;

CREATE VIEW contract.v_edge AS
SELECT e.id AS edge_id, e.document_id AS doc_id, v.number AS version, e.kind,
       s.kind AS src_kind, s.key AS src_key, t.kind AS dst_kind, t.key AS dst_key,
       e.strength, e.char_start, e.char_end, e.seen_from, e.seen_until
FROM graph_edges e JOIN document_versions v ON v.id = e.version_id
JOIN graph_nodes s ON s.id = e.src JOIN graph_nodes t ON t.id = e.dst;
