-- The corpus: sources, documents, immutable versions, links, chunks, lexical index, vectors, ledger, outbox.

CREATE EXTENSION IF NOT EXISTS vector;

CREATE TABLE sources (
    id         integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key        text NOT NULL UNIQUE CHECK (key <> ''),     -- host[:port], the Dagster partition key
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE documents (
    id              integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source_id       integer NOT NULL REFERENCES sources ON DELETE CASCADE,
    canonical_url   text NOT NULL UNIQUE,
    status          text NOT NULL DEFAULT 'queued'
                    CHECK (status IN ('queued', 'running', 'ready', 'failed', 'skipped', 'gone')),
    reason          text,
    current_version integer,                               -- NULL until the first version is fully indexed
    acquirer        text,                                  -- who answered last: validators are only theirs
    etag            text,
    last_modified   text,
    last_checked    timestamptz,
    next_check      timestamptz,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    CHECK (status NOT IN ('failed', 'skipped') OR reason IS NOT NULL),
    CHECK (status <> 'ready' OR current_version IS NOT NULL)
);
CREATE INDEX documents_source ON documents (source_id);

-- every other spelling and every redirect of a document's URL
CREATE TABLE url_aliases (
    url         text PRIMARY KEY,
    document_id integer NOT NULL REFERENCES documents ON DELETE CASCADE,
    created_at  timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE document_versions (
    id           integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    document_id  integer NOT NULL REFERENCES documents ON DELETE CASCADE,
    number       integer NOT NULL CHECK (number > 0),      -- 1, 2, … within the document
    markdown     text NOT NULL,
    sha256       text NOT NULL CHECK (length(sha256) = 64),
    title        text,
    description  text,
    language     text,
    http_status  integer NOT NULL,
    media_type   text NOT NULL,
    fetched_at   timestamptz NOT NULL,
    published    timestamptz,
    modified     timestamptz,
    extractor    text NOT NULL,
    chunker      text,                                     -- NULL until chunked
    parent_count integer,
    child_count  integer,
    UNIQUE (document_id, sha256),
    UNIQUE (document_id, number)
);
ALTER TABLE documents ADD FOREIGN KEY (current_version) REFERENCES document_versions DEFERRABLE INITIALLY DEFERRED;

-- an edge of one version's page; one row per distinct anchor text
CREATE TABLE link_candidates (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    version_id    integer NOT NULL REFERENCES document_versions ON DELETE CASCADE,
    ordinal       integer NOT NULL,
    target_url    text NOT NULL,
    anchor_text   text NOT NULL,
    context       text NOT NULL,
    heading_path  text[] NOT NULL,
    in_navigation boolean NOT NULL,
    nofollow      boolean NOT NULL,
    title         text,                                    -- from a site map, when there is one
    description   text,
    enriched_at   timestamptz,
    UNIQUE (version_id, ordinal)
);

CREATE TABLE chunks (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    version_id   integer NOT NULL REFERENCES document_versions ON DELETE CASCADE,
    document_id  integer NOT NULL,
    parent_id    bigint REFERENCES chunks ON DELETE CASCADE,
    level        text NOT NULL CHECK (level IN ('parent', 'child')),
    ordinal      integer NOT NULL,                         -- reading order in the version, per level
    heading_path text[] NOT NULL,
    char_start   integer NOT NULL CHECK (char_start >= 0),
    char_end     integer NOT NULL CHECK (char_end > char_start),
    token_count  integer NOT NULL,
    flags        text[] NOT NULL,
    html         text,                                     -- only for a block whose Markdown is lossy
    body         text NOT NULL,                            -- the exact slice of the version's Markdown
    embed_sha256 text,                                     -- children: sha256 of the text that is embedded
    CHECK ((level = 'child') = (parent_id IS NOT NULL)),
    CHECK ((level = 'child') = (embed_sha256 IS NOT NULL))
);
CREATE UNIQUE INDEX chunks_version ON chunks (version_id, level, ordinal);
CREATE INDEX chunks_parent ON chunks (parent_id);

-- BM25 postings over the parents of current versions; written when a version becomes current
CREATE TABLE lexical_terms (
    id   integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    term text NOT NULL UNIQUE
);
CREATE TABLE lexical_postings (
    term_id     integer NOT NULL,
    document_id integer NOT NULL,
    chunk_id    bigint NOT NULL,
    frequency   smallint NOT NULL,
    length      integer NOT NULL,                          -- terms in the chunk
    PRIMARY KEY (term_id, document_id, chunk_id)
);
CREATE INDEX lexical_postings_document ON lexical_postings (document_id);
CREATE TABLE lexical_documents (
    document_id integer PRIMARY KEY,
    parents     integer NOT NULL,
    length      bigint NOT NULL                            -- terms in all parents
);

CREATE TABLE embedding_models (
    id            integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    provider      text NOT NULL,
    name          text NOT NULL,
    dimensions    integer NOT NULL CHECK (dimensions > 0),
    normalisation text NOT NULL,
    state         text NOT NULL CHECK (state IN ('building', 'live', 'retired')),
    created_at    timestamptz NOT NULL DEFAULT now(),
    UNIQUE (provider, name, dimensions, normalisation)
);
CREATE UNIQUE INDEX embedding_models_one_live ON embedding_models ((true)) WHERE state = 'live';
-- vectors live in one typed table per model, vectors_<id>, made when the model is registered

CREATE TABLE embedding_cache (
    model_id    integer NOT NULL REFERENCES embedding_models ON DELETE CASCADE,
    text_sha256 text NOT NULL,
    embedding   vector NOT NULL,
    PRIMARY KEY (model_id, text_sha256)
);

-- the coverage ledger: every URL that was asked for or met, with how it ended
CREATE TABLE fetch_log (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    url           text NOT NULL,
    final_url     text,
    hop           integer NOT NULL DEFAULT 0,              -- redirects followed
    run_id        text,
    acquirer      text NOT NULL,
    outcome       text NOT NULL CHECK (outcome IN ('fetched', 'unchanged', 'failed', 'skipped')),
    reason        text,
    http_status   integer,
    bytes_raw     bigint,
    bytes_decoded bigint,
    started_at    timestamptz NOT NULL,
    ended_at      timestamptz NOT NULL DEFAULT now(),
    CHECK (outcome IN ('fetched', 'unchanged') OR reason IS NOT NULL)
);
CREATE INDEX fetch_log_url ON fetch_log (url);

-- append-only outbox of corpus changes, for whoever follows the corpus from outside
CREATE TABLE corpus_log (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source_id   integer NOT NULL,
    document_id integer NOT NULL,
    version_id  integer,
    change      text NOT NULL CHECK (change IN ('version', 'failed', 'gone')),
    logged_at   timestamptz NOT NULL DEFAULT now()
);
