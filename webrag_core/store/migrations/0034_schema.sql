-- What corpora had at migration 34, the oldest that this version opens: tables, functions and triggers, stable views.

CREATE EXTENSION IF NOT EXISTS vector;

CREATE TABLE sources (
    id               integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key              text NOT NULL UNIQUE CHECK (key <> ''), -- host[:port], the Dagster partition key
    created_at       timestamptz NOT NULL DEFAULT now(),
    seed_url         text,                                 -- where an attached source begins; NULL = nobody attached it
    path_prefix      text NOT NULL DEFAULT '/',            -- only pages below belong to it
    -- pages that its map and links may bring; NULL = known ones only
    page_limit       integer CHECK (page_limit >= 0),
    paused           boolean NOT NULL DEFAULT false,
    map_read_at      timestamptz,
    map_entries      integer,                              -- of the last map; 0 = there is none
    declared_in      text,                                 -- what declares it; NULL = the command line, or a run found it
    refresh_hours    double precision CHECK (refresh_hours > 0), -- NULL = the setting for all pages
    watch_minutes    double precision CHECK (watch_minutes > 0), -- between two looks at its change signals
    shards           integer NOT NULL DEFAULT 1 CHECK (shards BETWEEN 1 AND 99),
    acquirer         text CHECK (acquirer IN ('http', 'firecrawl', 'browser')), -- NULL = as the settings say
    pool             text,                                 -- runs of one pool are limited together
    follow           text NOT NULL DEFAULT 'links' CHECK (follow IN ('none', 'map', 'links')),
    watched_at       timestamptz,
    watch_token      text,                                 -- of a frozen site: which snapshot was looked at
    host             text GENERATED ALWAYS AS (split_part(key, '/'::text, 1)) STORED,
    place            text GENERATED ALWAYS AS (split_part(key, '/'::text, 1) || path_prefix) STORED, -- URLs begin with it
    described_at     timestamptz,
    versions_in_path text,                                 -- such as /{version}/; NULL: versions are recognised
    CHECK (key = split_part(key, '/', 1) || rtrim(path_prefix, '/'))
);
CREATE INDEX sources_host ON sources (host);

CREATE TABLE documents (
    id                integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source_id         integer NOT NULL REFERENCES sources ON DELETE CASCADE,
    canonical_url     text NOT NULL UNIQUE,
    status            text NOT NULL DEFAULT 'queued'
                      CHECK (status IN ('queued', 'running', 'ready', 'failed', 'skipped', 'gone')),
    reason            text,
    current_version   integer,                             -- NULL until the first version is fully indexed
    acquirer          text,                                -- who answered last: validators are only theirs
    etag              text,
    last_modified     text,
    last_checked      timestamptz,
    next_check        timestamptz,
    created_at        timestamptz NOT NULL DEFAULT now(),
    updated_at        timestamptz NOT NULL DEFAULT now(),
    -- answers in a row, on different days, that the page is not there
    misses            integer NOT NULL DEFAULT 0,
    miss_reason       text,
    last_miss         timestamptz,
    last_outcome      text CHECK (last_outcome IN ('fetched', 'unchanged', 'failed', 'skipped')),
    last_reason       text,
    last_run          text,
    last_fetch        bigint,                              -- its newest line in fetch_log, as long as that is kept
    last_fetch_at     timestamptz,
    announced_version integer,                             -- what the outbox announced last
    announcement      bigint,                              -- the line in corpus_log, as long as that is kept
    announced_at      timestamptz,
    missing_since     timestamptz,                         -- the first answer of an unbroken row that it is not there
    refused_by        text,                                -- the extractor that could not read a page without text
    CHECK (status NOT IN ('failed', 'skipped') OR reason IS NOT NULL),
    CHECK (status <> 'ready' OR current_version IS NOT NULL)
);
CREATE INDEX documents_next_check ON documents (source_id, next_check);
CREATE INDEX documents_source ON documents (source_id);

-- every other spelling and every redirect of a document's URL
CREATE TABLE url_aliases (
    url         text PRIMARY KEY,
    document_id integer NOT NULL REFERENCES documents ON DELETE CASCADE,
    created_at  timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE document_versions (
    id                integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    document_id       integer NOT NULL REFERENCES documents ON DELETE CASCADE,
    number            integer NOT NULL CHECK (number > 0), -- 1, 2, … within the document
    markdown          text,
    sha256            text NOT NULL CHECK (length(sha256) = 64),
    title             text,
    description       text,
    language          text,
    http_status       integer NOT NULL,
    media_type        text NOT NULL,
    fetched_at        timestamptz NOT NULL,
    published         timestamptz,
    modified          timestamptz,
    extractor         text NOT NULL,
    chunker           text,                                -- NULL until chunked
    parent_count      integer,
    child_count       integer,
    superseded_at     timestamptz,                         -- when it stopped being the current one, and was deleted
    pruned_at         timestamptz,
    characters        integer GENERATED ALWAYS AS (length(markdown)) STORED,
    body_sha256       text CHECK (length(body_sha256) = 64),
    cause             text NOT NULL DEFAULT 'page' CHECK (cause IN ('page', 'extractor', 'unsure')),
    dates_read        text,                                -- which reader looked for dates in the text
    detected_language text,                                -- as its text shows (ISO 639; 'und': none is clear)
    UNIQUE (document_id, number),
    UNIQUE (document_id, sha256),
    CHECK ((markdown IS NULL) = (pruned_at IS NOT NULL))
);
-- Words of texts that are no longer current: which of them a search of the past reads. Only the beginning of a very
-- long text, whose words would not fit.
CREATE INDEX document_versions_past ON document_versions
    USING gin (to_tsvector('simple'::regconfig, left(markdown, 150000))) WHERE superseded_at IS NOT NULL;

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
    UNIQUE (version_id, ordinal)
);
-- by equality and by prefix, in whatever collation the database has; a whole URL can be too long for an index
CREATE INDEX link_candidates_target ON link_candidates (left(target_url, 500) text_pattern_ops);

CREATE TABLE chunks (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    version_id   integer NOT NULL REFERENCES document_versions ON DELETE CASCADE,
    document_id  integer NOT NULL,
    parent_id    bigint REFERENCES chunks ON DELETE CASCADE,
    level        text NOT NULL CHECK (level IN ('parent', 'child')),
    ordinal      integer NOT NULL,                         -- reading order in the version, per level
    heading_path text[] NOT NULL,
    char_start   integer NOT NULL CHECK (char_start >= 0),
    char_end     integer NOT NULL,
    token_count  integer NOT NULL,
    flags        text[] NOT NULL,
    body         text,                                     -- the exact slice of the version's Markdown
    embed_sha256 text,                                     -- children: sha256 of the text that is embedded
    passage      bytea,                                    -- children; NULL where an older version wrote the chunk
    CHECK (char_end > char_start),
    CHECK ((level = 'child') = (parent_id IS NOT NULL)),
    CHECK ((level = 'child') = (embed_sha256 IS NOT NULL)),
    CHECK ((level = 'parent') = (body IS NOT NULL))
);
-- a document's chunks (deleting the old ones, too), and the few that carry a rare flag
CREATE INDEX chunks_document ON chunks (document_id);
CREATE INDEX chunks_embed_sha256 ON chunks (embed_sha256) WHERE embed_sha256 IS NOT NULL;
CREATE INDEX chunks_flags ON chunks USING gin (flags) WHERE level = 'child';
CREATE INDEX chunks_parent ON chunks (parent_id);
CREATE UNIQUE INDEX chunks_version ON chunks (version_id, level, ordinal);

-- BM25 postings over the parents of current versions; written when a version becomes current
CREATE TABLE lexical_terms (
    id     integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY CHECK (id < 268435456), -- times 8 it is an integer
    term   text NOT NULL UNIQUE,
    -- share of parents that hold a frequent term, by code (its frequency, 0 for more than 7); NULL: few hold it
    shares real[]
);

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
    state_since   timestamptz NOT NULL DEFAULT now(),
    inputs        text NOT NULL DEFAULT '',
    tokens        bigint NOT NULL DEFAULT 0,
    UNIQUE (provider, name, dimensions, normalisation, inputs)
);
CREATE UNIQUE INDEX embedding_models_one_live ON embedding_models ((true)) WHERE state = 'live';

CREATE TABLE embedding_cache (
    model_id    integer REFERENCES embedding_models ON DELETE CASCADE,
    text_sha256 text,
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
    version_id    integer,
    seen_at       timestamptz,
    trace_id      text,
    CHECK (outcome IN ('fetched', 'unchanged') OR reason IS NOT NULL)
);
CREATE INDEX fetch_log_ended ON fetch_log USING brin (ended_at);
CREATE INDEX fetch_log_final_url ON fetch_log USING hash (final_url);
CREATE INDEX fetch_log_run ON fetch_log (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX fetch_log_trace ON fetch_log (trace_id) WHERE trace_id IS NOT NULL;
CREATE INDEX fetch_log_url ON fetch_log (url);

-- append-only outbox of corpus changes, for whoever follows the corpus from outside
CREATE TABLE corpus_log (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source_id   integer NOT NULL,
    document_id integer NOT NULL,
    version_id  integer,
    change      text NOT NULL CHECK (change IN ('version', 'failed', 'gone')),
    logged_at   timestamptz NOT NULL DEFAULT now(),
    written_by  xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX corpus_log_written_by ON corpus_log (written_by);

CREATE TABLE answer_runs (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    seed_url    text,
    query       text NOT NULL,
    options     jsonb NOT NULL,
    policy      text,
    state       text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'done', 'failed')),
    reason      text,
    action      text,
    rule        text,
    probability double precision,
    warnings    jsonb NOT NULL DEFAULT '[]',
    started_at  timestamptz NOT NULL DEFAULT now(),
    ended_at    timestamptz,
    kind        text NOT NULL DEFAULT 'evidence' CHECK (kind IN ('evidence', 'prose')),
    prose       jsonb,                                     -- what a finished answer says beside its sentences
    plan        jsonb,                                     -- the first plan; NULL before there were plans
    trace_id    text,
    origin      text,                                      -- who asked: cli, mcp …; `answer` for another answer
    CHECK (state <> 'failed' OR reason IS NOT NULL),
    CHECK (kind = 'prose' OR (seed_url IS NOT NULL AND policy IS NOT NULL))
);
CREATE INDEX answer_runs_ended ON answer_runs (ended_at) WHERE state = 'done';
CREATE INDEX answer_runs_running ON answer_runs (started_at) WHERE state = 'running';

CREATE TABLE answer_rounds (
    answer_id  bigint REFERENCES answer_runs ON DELETE CASCADE,
    round      integer,
    signals    jsonb NOT NULL,
    decision   jsonb NOT NULL,
    chunks     jsonb NOT NULL,                             -- scored chunk ids with URL and heading
    candidates jsonb NOT NULL,                             -- scored link candidates
    PRIMARY KEY (answer_id, round)
);

CREATE TABLE citations (
    answer_id    bigint REFERENCES answer_runs ON DELETE CASCADE,
    number       integer,
    version_id   integer NOT NULL REFERENCES document_versions, -- a cited version is kept
    char_start   integer NOT NULL,
    char_end     integer NOT NULL,
    quote_sha256 text NOT NULL,
    heading      text,
    score        double precision NOT NULL,
    PRIMARY KEY (answer_id, number),
    CHECK (char_end > char_start)
);
CREATE INDEX citations_version ON citations (version_id);

-- what the site says about its own pages; link candidates take their target's title and description from here
CREATE TABLE site_map_pages (
    source_id     integer REFERENCES sources ON DELETE CASCADE,
    url           text,
    title         text,
    description   text,
    listed_in     text NOT NULL,
    last_modified timestamptz,
    moved_at      timestamptz,                             -- when we saw last_modified change
    first_seen    timestamptz NOT NULL DEFAULT now(),
    last_seen     timestamptz NOT NULL DEFAULT now(),
    words         text NOT NULL DEFAULT '',
    PRIMARY KEY (source_id, url)
);
CREATE INDEX site_map_pages_url ON site_map_pages (url);

-- how often a page had changed when a signal said so, and when it did not
CREATE TABLE change_signals (
    source_id       integer REFERENCES sources ON DELETE CASCADE,
    signal          text CHECK (signal IN ('sitemap', 'feed', 'validator')),
    flagged_changed integer NOT NULL DEFAULT 0,
    flagged_same    integer NOT NULL DEFAULT 0,
    silent_changed  integer NOT NULL DEFAULT 0,
    silent_same     integer NOT NULL DEFAULT 0,
    PRIMARY KEY (source_id, signal)
);

-- one line per refresh of a source: every page it knew of is in exactly one of the counts
CREATE TABLE refresh_runs (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source_id  integer NOT NULL REFERENCES sources ON DELETE CASCADE,
    run_id     text NOT NULL,
    started_at timestamptz NOT NULL,
    ended_at   timestamptz NOT NULL DEFAULT now(),
    discovered integer NOT NULL,
    fetched    integer NOT NULL,
    unchanged  integer NOT NULL,
    failed     integer NOT NULL,
    skipped    integer NOT NULL,                           -- not taken: beyond the page limit, or a crawler trap
    not_due    integer NOT NULL,                           -- known, and nothing said that it changed
    warnings   jsonb NOT NULL DEFAULT '[]',
    shard      integer NOT NULL DEFAULT 0,
    UNIQUE (source_id, run_id)
);
CREATE INDEX refresh_runs_last ON refresh_runs (source_id, shard, started_at DESC);

CREATE TABLE document_sizes (
    document_id integer PRIMARY KEY REFERENCES documents ON DELETE CASCADE,
    parents     integer NOT NULL,
    children    integer NOT NULL,
    tokens      bigint NOT NULL                            -- of the parents
);

-- the same per combination of chunk flags; chunks without any are left out
CREATE TABLE document_flag_sizes (
    document_id integer REFERENCES documents ON DELETE CASCADE,
    flags       text[] CHECK (flags <> '{}'),
    parents     integer NOT NULL,
    children    integer NOT NULL,
    tokens      bigint NOT NULL,
    PRIMARY KEY (document_id, flags)
);

-- URLs that a source knows of and leaves out, each with its latest reason: said in the ledger once
CREATE TABLE skipped_urls (
    source_id integer REFERENCES sources ON DELETE CASCADE,
    url       text,
    reason    text NOT NULL,
    PRIMARY KEY (source_id, url)
);

-- before which time lines may have been deleted: their absence is no fault then
CREATE TABLE retention_horizons (
    history       text PRIMARY KEY CHECK (history IN ('fetch_log', 'corpus_log')),
    pruned_before timestamptz NOT NULL
);

CREATE TABLE removals (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    removed_at     timestamptz NOT NULL DEFAULT now(),
    kind           text NOT NULL CHECK (kind IN ('page', 'source', 'answer')),
    subject_sha256 text NOT NULL CHECK (length(subject_sha256) = 64), -- of the canonical URL, source key or answer id
    removed_by     text NOT NULL,
    counts         jsonb NOT NULL                          -- rows by kind
);

-- pages that are not stored again until somebody asks for them by name
CREATE TABLE forgotten_urls (
    url_sha256    text PRIMARY KEY CHECK (length(url_sha256) = 64),
    source_sha256 text,                                    -- of its source's key, where the whole source was removed
    forgotten_at  timestamptz NOT NULL DEFAULT now()
);

-- lines of forgotten pages in the ledger of a run, which its refresh may have counted
CREATE TABLE removed_lines (
    run_id text PRIMARY KEY,
    lines  integer NOT NULL
);

-- how far followers of the outbox have read; lines that one of them has not read are kept
CREATE TABLE outbox_readers (
    name    text PRIMARY KEY,
    horizon xid8 NOT NULL,
    read_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE lexical_postings (
    chunk_id    bigint PRIMARY KEY,
    document_id integer NOT NULL,
    length      integer NOT NULL,                          -- terms in the chunk
    terms       integer[] NOT NULL,                        -- 8 * term id + frequency; + 0 for a frequency above 7
    frequent    integer[] NOT NULL                         -- -term id, frequency, … for those frequencies
) WITH (toast_tuple_target = 128);
ALTER TABLE lexical_postings ALTER terms SET STORAGE EXTERNAL, ALTER frequent SET STORAGE MAIN;
CREATE INDEX lexical_postings_document ON lexical_postings (document_id);
CREATE INDEX lexical_postings_terms ON lexical_postings USING gin (terms) WITH (fastupdate = off);

CREATE UNLOGGED TABLE host_paces (
    host       text PRIMARY KEY,                           -- with its port, where it is not the default
    next_start timestamptz NOT NULL DEFAULT '-infinity',   -- crawl delay
    held_until timestamptz NOT NULL DEFAULT '-infinity',   -- Retry-After
    status     smallint NOT NULL DEFAULT 429               -- HTTP status that came with the last Retry-After
);

-- the oldest tickets of a host are its requests, as many as there are slots; the others wait
CREATE UNLOGGED TABLE host_leases (
    ticket     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    host       text NOT NULL,
    holder     uuid NOT NULL UNIQUE,
    expires_at timestamptz NOT NULL
);
CREATE INDEX host_leases_host ON host_leases (host, ticket);

CREATE TABLE absent_map_files (
    source_id    integer REFERENCES sources ON DELETE CASCADE,
    url          text,
    requested_at timestamptz NOT NULL,
    PRIMARY KEY (source_id, url)
);

CREATE TABLE version_periods (
    document_id integer REFERENCES documents ON DELETE CASCADE,
    version_id  integer REFERENCES document_versions ON DELETE CASCADE, -- NULL: the page was confirmed absent
    seen_from   timestamptz,                               -- first and last sighting of this text
    seen_last   timestamptz NOT NULL,
    seen_until  timestamptz,                               -- first sighting of something else; NULL: none yet
    acquirer    text,                                      -- of the first sighting; NULL: before that was recorded
    basis       text NOT NULL CHECK (basis IN ('seen', 'archive', 'backfilled')),
    PRIMARY KEY (document_id, seen_from),
    CHECK (seen_from <= seen_last AND seen_last < coalesce(seen_until, 'infinity'))
) WITH (fillfactor = 85);
CREATE UNIQUE INDEX version_periods_open ON version_periods (document_id) WHERE seen_until IS NULL;
CREATE INDEX version_periods_version ON version_periods (version_id);

CREATE TABLE citation_checks (
    answer_id       bigint,
    number          integer,
    against_version integer,                               -- what the page is now; 0: it is gone
    state           text NOT NULL CHECK (state IN ('moved', 'valid', 'changed', 'gone')),
    how             text NOT NULL CHECK (how IN ('same', 'text', 'markup', 'page', 'reworded', 'lost')),
    kept            real NOT NULL CHECK (kept BETWEEN 0 AND 1),
    sentences       integer NOT NULL,                      -- of the quote, and how many of them stand unchanged
    standing        integer NOT NULL,
    facts_changed   text[] NOT NULL,
    context_changed boolean NOT NULL,
    ambiguous       boolean NOT NULL,
    cause           text NOT NULL CHECK (cause IN ('page', 'extractor', 'unsure')),
    now_version     integer REFERENCES document_versions ON DELETE CASCADE,
    now_start       integer,
    now_end         integer,
    checked_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (answer_id, number, against_version),
    FOREIGN KEY (answer_id, number) REFERENCES citations(answer_id, number) ON DELETE CASCADE
);
CREATE INDEX citation_checks_now ON citation_checks (now_version) WHERE now_version IS NOT NULL;

CREATE TABLE answer_sentences (
    answer_id bigint REFERENCES answer_runs ON DELETE CASCADE,
    ordinal   integer,
    text      text NOT NULL,
    proof     text NOT NULL CHECK (proof IN ('verbatim', 'trimmed', 'assembled', 'paraphrase')),
    part      integer NOT NULL,                            -- of the question
    support   double precision NOT NULL CHECK (support BETWEEN 0 AND 1),
    PRIMARY KEY (answer_id, ordinal)
);

CREATE TABLE sentence_citations (
    answer_id bigint,
    ordinal   integer,
    number    integer,
    PRIMARY KEY (answer_id, ordinal, number),
    FOREIGN KEY (answer_id, number) REFERENCES citations(answer_id, number),
    FOREIGN KEY (answer_id, ordinal) REFERENCES answer_sentences(answer_id, ordinal) ON DELETE CASCADE
);
CREATE INDEX sentence_citations_number ON sentence_citations (answer_id, number);

CREATE TABLE version_validity (
    version_id integer REFERENCES document_versions ON DELETE CASCADE,
    valid      daterange CHECK (NOT isempty(valid)),       -- half-open; no bound where none is stated
    kind       text CHECK (kind IN ('in_force', 'applicable', 'published', 'release')),
    basis      text CHECK (basis IN ('text', 'metadata', 'history', 'undated')),
    char_start integer CHECK (char_start >= 0),            -- where the text says so
    char_end   integer,
    PRIMARY KEY (version_id, kind, valid, basis),
    CHECK (char_end > char_start),
    CHECK ((basis = 'text') = (char_start IS NOT NULL) AND (basis = 'text') = (char_end IS NOT NULL))
);

CREATE TABLE works (
    id    integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key   text NOT NULL,                                   -- the address with {version} for the version
    title text NOT NULL,                                   -- without numbers; empty where an operator says so
    UNIQUE (key, title)
);

CREATE TABLE work_members (
    work_id     integer REFERENCES works,
    document_id integer REFERENCES documents ON DELETE CASCADE,
    label       text NOT NULL CHECK (label <> ''),         -- the version as the address has it
    PRIMARY KEY (work_id, document_id)
);
CREATE INDEX work_members_document ON work_members (document_id);

-- of which version the title was read, and by which pattern
CREATE TABLE work_pages (
    document_id integer PRIMARY KEY REFERENCES documents ON DELETE CASCADE,
    version_id  integer NOT NULL,
    pattern     text NOT NULL
);

CREATE TABLE graph_nodes (
    id        integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind      text NOT NULL CHECK (kind IN ('page', 'section', 'symbol', 'term', 'entity')),
    key       text NOT NULL CHECK (key <> ''),
    label     text NOT NULL,                               -- as a reader would write it; of a page empty
    degree_in integer NOT NULL DEFAULT 0,                  -- live edges to it, counted after bulk writes
    UNIQUE (key, kind)
) WITH (fillfactor = 90);
-- a key by its end: `Queue.get`, `asyncio-queue.html`
CREATE INDEX graph_nodes_end ON graph_nodes (reverse(key) text_pattern_ops);
-- entities by their name: many have an address for a key
CREATE INDEX graph_nodes_entity ON graph_nodes (lower(label)) WHERE kind = 'entity';

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
    char_start  integer CHECK (char_start >= 0),
    char_end    integer,
    seen_from   timestamptz NOT NULL,                      -- first sighting of the version that said so first
    seen_until  timestamptz,                               -- first sighting of the text that no longer does
    statement   text,
    CHECK (char_end > char_start),
    CHECK (seen_until IS NULL OR seen_from < seen_until),
    CHECK ((char_start IS NULL) = (char_end IS NULL)),
    CHECK (char_start IS NOT NULL OR statement IS NOT NULL AND kind IN ('typed', 'same_as', 'replaces', 'contains'))
) WITH (fillfactor = 50);
CREATE INDEX graph_edges_document ON graph_edges (document_id);
CREATE INDEX graph_edges_in ON graph_edges (dst, kind, strength DESC) INCLUDE (src, id) WHERE seen_until IS NULL;
CREATE INDEX graph_edges_out ON graph_edges (src, kind, strength DESC) INCLUDE (dst, id) WHERE seen_until IS NULL;
CREATE INDEX graph_edges_past_in ON graph_edges (dst, kind, seen_from) WHERE seen_until IS NOT NULL;
CREATE INDEX graph_edges_past_out ON graph_edges (src, kind, seen_from) WHERE seen_until IS NOT NULL;

-- for which version, by which extraction and under which source the edges of a page were made
CREATE TABLE graph_documents (
    document_id integer PRIMARY KEY REFERENCES documents ON DELETE CASCADE,
    version_id  integer,                                   -- NULL: the page left the index
    extraction  text NOT NULL,
    source_key  text NOT NULL,                             -- symbols are named after it
    inputs      bigint NOT NULL,                           -- hash of links, markup and inventory symbols that were read
    edges       integer NOT NULL,
    -- why some are left out
    reason      text CHECK (reason IN ('too_many_symbols', 'too_many_edges', 'too_many_statements', 'address_too_long')),
    counted     boolean NOT NULL DEFAULT false             -- whether `degree_in` of its targets is up to date
);
CREATE INDEX graph_documents_uncounted ON graph_documents (document_id) WHERE NOT counted;

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
    source_id integer REFERENCES sources ON DELETE CASCADE,
    page_url  text,
    name      text,
    role      text,                                        -- domain:role, as in the inventory
    anchor    text NOT NULL,                               -- '': the page itself
    PRIMARY KEY (source_id, page_url, name, role)
);
CREATE INDEX inventory_symbols_page ON inventory_symbols (page_url);

-- A breaker is closed (its dependency is asked) while `opened_at` is null, else open: nobody asks until `retry_at`, then
-- one process, which has until `probe_until`. No row: it never failed.
CREATE TABLE breakers (
    name            text PRIMARY KEY,                      -- kind and host of the endpoint: chat api.openai.com
    failures        integer NOT NULL,                      -- in a row
    opened_at       timestamptz,                           -- since then it has not answered
    retry_at        timestamptz,                           -- the next probe
    probe_until     timestamptz,
    last_reason     text NOT NULL,
    last_failure_at timestamptz NOT NULL,
    CHECK ((opened_at IS NULL) = (retry_at IS NULL))
);

CREATE TABLE route_tasks (
    answer_id    bigint REFERENCES answer_runs ON DELETE CASCADE,
    iteration    integer,                                  -- 1 = the first plan
    ordinal      integer NOT NULL,                         -- in its plan
    id           text,
    agent        text NOT NULL,
    kind         text NOT NULL,
    params       jsonb NOT NULL,
    status       text NOT NULL CHECK (status IN ('success', 'empty', 'error', 'timeout', 'skipped', 'cancelled')),
    error        jsonb,                                    -- code, message, retry_at
    milliseconds double precision NOT NULL,
    output       jsonb NOT NULL,                           -- evidence and findings by version and span, without text
    trace_id     text,
    PRIMARY KEY (answer_id, iteration, id)
);

CREATE TABLE feedback (
    id                bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    answer_id         bigint NOT NULL REFERENCES answer_runs ON DELETE CASCADE,
    sentence          integer,                             -- by its number in the answer; or a quote by its number
    citation          integer,
    kind              text NOT NULL CHECK (kind IN ('helpful', 'wrong', 'missing', 'better_source', 'wrong_route')),
    value             smallint NOT NULL,
    text              text,
    suggested         jsonb,                               -- a span that was proved when it came in
    suggested_version integer REFERENCES document_versions,
    actor             text NOT NULL CHECK (actor <> ''),
    actor_kind        text NOT NULL CHECK (actor_kind IN ('person', 'operator', 'model')),
    weight            real NOT NULL CHECK (weight BETWEEN 0 AND 1),
    state             text NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'accepted', 'rejected')),
    created_at        timestamptz NOT NULL DEFAULT now(),
    CHECK (value BETWEEN -2 AND 2 AND (kind = 'helpful') = (value > 0)),
    CHECK (sentence IS NULL OR citation IS NULL),
    CHECK ((suggested IS NULL) = (suggested_version IS NULL)),
    CHECK (state <> 'rejected' OR weight = 0),
    CHECK (actor_kind <> 'model' OR state = 'accepted' OR weight = 0)
);
CREATE INDEX feedback_answer ON feedback (answer_id);
CREATE INDEX feedback_version ON feedback (suggested_version) WHERE suggested_version IS NOT NULL;

CREATE TABLE exposures (
    answer_id  bigint REFERENCES answer_runs ON DELETE CASCADE,
    rank       integer CHECK (rank > 0),
    chunk_id   bigint NOT NULL,                            -- gone when its page has another text
    agent      text NOT NULL CHECK (agent <> ''),          -- who found it: corpus, pages, …
    shown      boolean NOT NULL,                           -- whether the answer quotes it
    propensity real CHECK (propensity > 0 AND propensity <= 1), -- of being considered; NULL: not known
    PRIMARY KEY (answer_id, rank)
);
CREATE INDEX exposures_chunk ON exposures (chunk_id);

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
) WITH (fillfactor = 50);
CREATE INDEX source_sizes_source ON source_sizes (source_id);

-- the parents that the shares were last counted in
CREATE TABLE counted_terms (
    one     boolean DEFAULT true PRIMARY KEY CHECK (one),
    parents bigint NOT NULL
);

-- Rules (of words: stop words, stems) that some postings were made by; a query is cut by each of them. Only grows.
CREATE TABLE lexical_rules (
    rules text PRIMARY KEY
);

ALTER TABLE documents ADD FOREIGN KEY (current_version) REFERENCES document_versions(id) DEFERRABLE INITIALLY DEFERRED;

CREATE FUNCTION measure_document(wanted integer, version integer) RETURNS void LANGUAGE sql AS $$
    DELETE FROM document_sizes WHERE document_id = wanted;
    DELETE FROM document_flag_sizes WHERE document_id = wanted;
    INSERT INTO document_sizes
    SELECT wanted, count(*) FILTER (WHERE level = 'parent'), count(*) FILTER (WHERE level = 'child'),
           coalesce(sum(token_count) FILTER (WHERE level = 'parent'), 0)
    FROM chunks WHERE version_id = version HAVING count(*) > 0;
    INSERT INTO document_flag_sizes
    SELECT wanted, flags, count(*) FILTER (WHERE level = 'parent'), count(*) FILTER (WHERE level = 'child'),
           coalesce(sum(token_count) FILTER (WHERE level = 'parent'), 0)
    FROM chunks WHERE version_id = version AND flags <> '{}' GROUP BY flags;
$$;

-- a trigger, so that no writer can forget it
CREATE FUNCTION measure_current() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM measure_document(NEW.id, NEW.current_version);
    RETURN NULL;
END $$;
CREATE TRIGGER documents_measured AFTER INSERT OR UPDATE OF current_version ON documents
    FOR EACH ROW EXECUTE FUNCTION measure_current();

-- the current version was cut anew: its counts are written after its chunks
CREATE FUNCTION measure_recut() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM measure_document(d.id, d.current_version) FROM documents d
    WHERE d.id = NEW.document_id AND d.current_version = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER versions_measured AFTER UPDATE OF parent_count, child_count ON document_versions
    FOR EACH ROW EXECUTE FUNCTION measure_recut();

-- `/a/` also holds `/a`, which sites redirect to it
CREATE FUNCTION in_section(url text, place text) RETURNS boolean IMMUTABLE PARALLEL SAFE LANGUAGE sql AS $$
    SELECT starts_with(substr(url, strpos(url, '://') + 3), place)
        OR split_part(substr(url, strpos(url, '://') + 3), '?', 1) || '/' = place
$$;

CREATE FUNCTION source_of(url text) RETURNS integer STABLE LANGUAGE sql AS $$
    SELECT id FROM sources WHERE host = split_part(url, '/', 3) AND in_section(url, place)
    ORDER BY length(place) DESC LIMIT 1
$$;

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

CREATE FUNCTION is_forgotten(url text) RETURNS boolean STABLE LANGUAGE sql AS $$
    SELECT EXISTS (SELECT FROM forgotten_urls WHERE url_sha256 = encode(sha256(convert_to(url, 'UTF8')), 'hex'))
$$;

-- attaching a source is asking for it by name
CREATE FUNCTION allow_attached() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM forgotten_urls WHERE source_sha256 = encode(sha256(convert_to(NEW.key, 'UTF8')), 'hex')
        OR url_sha256 = encode(sha256(convert_to(NEW.seed_url, 'UTF8')), 'hex');
    RETURN NULL;
END $$;
CREATE TRIGGER sources_attached AFTER INSERT OR UPDATE OF seed_url ON sources
    FOR EACH ROW WHEN (NEW.seed_url IS NOT NULL) EXECUTE FUNCTION allow_attached();

CREATE FUNCTION stamp_state() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.state_since := now();
    RETURN NEW;
END $$;
CREATE TRIGGER embedding_models_state BEFORE UPDATE OF state ON embedding_models
    FOR EACH ROW WHEN (OLD.state IS DISTINCT FROM NEW.state) EXECUTE FUNCTION stamp_state();

-- One attempt of a holder. The row of the host is locked, so attempts at one host come one after another.
-- `pause_s` and `held_s`: seconds until the next start, and those of them that Retry-After asks for.
CREATE FUNCTION request_host_lease(
    wanted text, asking uuid, slots integer, delay_s double precision, lease_s double precision,
    OUT granted boolean, OUT ahead integer, OUT pause_s double precision, OUT held_s double precision, OUT status integer
) LANGUAGE plpgsql AS $$
DECLARE
    pace   host_paces;
    mine   bigint;
    moment timestamptz;
    is_new boolean;
BEGIN
    INSERT INTO host_paces AS p (host) VALUES (wanted) ON CONFLICT (host) DO UPDATE SET host = EXCLUDED.host
        RETURNING p.*, p.xmax = 0 INTO pace.host, pace.next_start, pace.held_until, pace.status, is_new;
    moment := clock_timestamp();
    IF is_new THEN  -- a good moment to drop hosts that nobody asks any more
        DELETE FROM host_paces WHERE host IN (
            SELECT p.host FROM host_paces p WHERE greatest(p.next_start, p.held_until) < moment AND p.host <> wanted
                AND NOT EXISTS (SELECT FROM host_leases l WHERE l.host = p.host AND l.expires_at > moment)
            FOR UPDATE SKIP LOCKED);
    END IF;
    DELETE FROM host_leases l WHERE l.host = wanted AND l.expires_at <= moment;
    SELECT l.ticket INTO mine FROM host_leases l WHERE l.holder = asking;
    IF mine IS NULL THEN
        INSERT INTO host_leases AS l (host, holder, expires_at) VALUES (wanted, asking, moment) RETURNING l.ticket INTO mine;
    END IF;
    ahead := (SELECT count(*) FROM host_leases l WHERE l.host = wanted AND l.ticket < mine);
    held_s := greatest(0, extract(epoch FROM greatest(pace.held_until, moment) - moment));
    pause_s := greatest(held_s, extract(epoch FROM greatest(pace.next_start, moment) - moment));
    status := pace.status;
    granted := ahead < slots AND pause_s = 0;
    IF granted THEN
        UPDATE host_leases l SET expires_at = moment + make_interval(secs => lease_s) WHERE l.ticket = mine;
        UPDATE host_paces p SET next_start = moment + make_interval(secs => delay_s) WHERE p.host = wanted;
    ELSE  -- whoever stops asking loses its place soon
        UPDATE host_leases l SET expires_at = moment + make_interval(secs => pause_s + 5) WHERE l.ticket = mine;
    END IF;
END $$;

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

CREATE FUNCTION language_group(tag text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE split_part(lower(replace(tag, '_', '-')), '-', 1)
    WHEN 'nb' THEN 'no' WHEN 'nn' THEN 'no' WHEN 'iw' THEN 'he' WHEN 'in' THEN 'id' WHEN 'ms' THEN 'id'
    WHEN 'yue' THEN 'zh' WHEN 'wuu' THEN 'zh' WHEN 'cmn' THEN 'zh' WHEN 'prs' THEN 'fa' WHEN 'arz' THEN 'ar'
    WHEN 'hr' THEN 'sr' WHEN 'bs' THEN 'sr' WHEN 'sh' THEN 'sr' WHEN 'cnr' THEN 'sr' WHEN 'fil' THEN 'tl'
    WHEN 'gl' THEN 'pt' ELSE split_part(lower(replace(tag, '_', '-')), '-', 1)
END;

-- The language of a version, in lower case (BCP 47): what the page declares where its text does not show another, else
-- what the text shows. Languages that can hardly be told apart do not contradict each other.
CREATE FUNCTION language_of(declared text, detected text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN detected IS NULL OR detected = 'und' THEN lower(replace(declared, '_', '-'))
    WHEN declared IS NULL OR language_group(declared) <> language_group(detected) THEN detected
    ELSE lower(replace(declared, '_', '-'))
END;

-- Stable views for checks from outside. Tables beneath may change; these do not.

CREATE SCHEMA contract;

CREATE VIEW contract.v_document AS
SELECT d.id AS doc_id, d.canonical_url AS url_canonical, v.number AS version,
       coalesce(v.id = d.current_version, false) AS is_current, d.status, d.reason,
       v.sha256 AS content_sha256, v.markdown AS text, v.fetched_at, d.updated_at
FROM documents d LEFT JOIN document_versions v ON v.document_id = d.id;

-- n_expected: how many chunks of this level the version has when it is whole
CREATE VIEW contract.v_chunk AS
SELECT c.id AS chunk_id, c.document_id AS doc_id, v.number AS version, c.level, c.ordinal AS ord,
       c.char_start AS start_off, c.char_end AS end_off,
       coalesce(c.body, substr(p.body, c.char_start - p.char_start + 1, c.char_end - c.char_start)) AS text,
       CASE c.level WHEN 'parent' THEN v.parent_count ELSE v.child_count END AS n_expected
FROM chunks c JOIN document_versions v ON v.id = c.version_id LEFT JOIN chunks p ON p.id = c.parent_id;

-- empty until a model goes live; then it is made again over that model's table
CREATE VIEW contract.v_embedding AS
SELECT NULL::bigint AS chunk_id, NULL::text AS model, NULL::integer AS dim, NULL::vector AS vec WHERE false;

CREATE VIEW contract.v_fetch AS
SELECT url, hop, coalesce(http_status::text, outcome) AS status, reason, bytes_raw, bytes_decoded, started_at
FROM fetch_log;

CREATE VIEW contract.v_request AS
SELECT url AS url_submitted, run_id, outcome AS state, reason,
       count(*) OVER (PARTITION BY url, run_id) AS attempts
FROM fetch_log;

CREATE VIEW contract.v_answer AS
SELECT a.id AS answer_id, a.query, a.action, a.rule,
       coalesce((SELECT jsonb_agg(jsonb_build_object(
                    'number', c.number, 'url', d.canonical_url, 'version', v.number, 'start', c.char_start,
                    'end', c.char_end, 'sha256', c.quote_sha256, 'heading', c.heading,
                    'quote', substring(v.markdown FROM c.char_start + 1 FOR c.char_end - c.char_start)
                 ) ORDER BY c.number)
                 FROM citations c JOIN document_versions v ON v.id = c.version_id
                 JOIN documents d ON d.id = v.document_id
                 WHERE c.answer_id = a.id), '[]'::jsonb) AS citations
FROM answer_runs a;

CREATE VIEW contract.v_period AS
SELECT p.document_id AS doc_id, v.number AS version, p.seen_from, p.seen_last, p.seen_until
FROM version_periods p LEFT JOIN document_versions v ON v.id = p.version_id;

CREATE VIEW contract.v_sentence AS
SELECT s.answer_id, s.ordinal, s.text, s.proof, s.support,
       array(SELECT c.number FROM sentence_citations c WHERE c.answer_id = s.answer_id AND c.ordinal = s.ordinal
             ORDER BY c.number) AS citations
FROM answer_sentences s;

CREATE VIEW contract.v_validity AS
SELECT v.document_id AS doc_id, v.number AS version, y.kind, lower(y.valid) AS valid_from, upper(y.valid) AS valid_until,
       y.basis, y.char_start, y.char_end
FROM version_validity y JOIN document_versions v ON v.id = y.version_id;

CREATE VIEW contract.v_edge AS
SELECT e.id AS edge_id, e.document_id AS doc_id, v.number AS version, e.kind,
       s.kind AS src_kind, s.key AS src_key, t.kind AS dst_kind, t.key AS dst_key,
       e.strength, e.char_start, e.char_end, e.seen_from, e.seen_until, e.label, e.statement
FROM graph_edges e JOIN document_versions v ON v.id = e.version_id
JOIN graph_nodes s ON s.id = e.src JOIN graph_nodes t ON t.id = e.dst;

CREATE VIEW contract.v_breaker AS
SELECT name, CASE WHEN opened_at IS NULL THEN 'closed'
                  WHEN greatest(retry_at, probe_until) > now() THEN 'open'
                  ELSE 'half_open' END AS state,
       failures, opened_at, greatest(retry_at, probe_until) AS retry_at, last_reason, last_failure_at
FROM breakers;

CREATE VIEW contract.v_task AS
SELECT answer_id, iteration, id, agent, kind, params, status, error ->> 'code' AS code, error ->> 'message' AS message,
       milliseconds, jsonb_array_length(output -> 'evidence') AS passages,
       jsonb_array_length(output -> 'findings') AS findings, (output ->> 'pages')::integer AS pages, trace_id
FROM route_tasks;

CREATE VIEW contract.v_feedback AS
SELECT f.id AS feedback_id, f.answer_id, f.sentence, f.citation, f.kind, f.value, f.text, f.suggested, f.actor,
       f.actor_kind, f.weight, f.state, f.created_at
FROM feedback f;

CREATE VIEW contract.v_exposure AS
SELECT e.answer_id, e.rank, e.chunk_id, e.agent, e.shown, e.propensity FROM exposures e;

COMMENT ON COLUMN documents.canonical_url IS 'address; every other spelling is in url_aliases';
COMMENT ON COLUMN documents.status IS 'queued, running, ready, failed, skipped or gone';
COMMENT ON COLUMN documents.reason IS 'why it failed or was skipped';
COMMENT ON COLUMN documents.current_version IS 'version that searches read';
COMMENT ON COLUMN documents.last_checked IS 'when the site last answered for it';
COMMENT ON COLUMN documents.next_check IS 'when it is asked again at the latest';
COMMENT ON COLUMN link_candidates.version_id IS 'version of the page that the link stands on';
COMMENT ON COLUMN link_candidates.target_url IS 'where it leads';
COMMENT ON COLUMN link_candidates.context IS 'the sentence around it';
COMMENT ON COLUMN link_candidates.in_navigation IS 'whether it is part of a menu rather than of the text';
COMMENT ON COLUMN chunks.level IS 'parent (context) or child (search)';
COMMENT ON COLUMN chunks.char_start IS 'first character in the text of its version (Unicode code points)';
COMMENT ON COLUMN chunks.char_end IS 'end of it, exclusive';
COMMENT ON COLUMN chunks.heading_path IS 'headings above it';
COMMENT ON COLUMN chunks.embed_sha256 IS 'of the text that is embedded';
COMMENT ON COLUMN citations.version_id IS 'version that is quoted; it is kept';
COMMENT ON COLUMN citations.char_start IS 'first character of the quote in that version';
COMMENT ON COLUMN citations.quote_sha256 IS 'of the quote in UTF-8';
