-- Refresh: attached sources, site maps, change signals and what they were worth, pages that stopped being there.

ALTER TABLE sources
    ADD COLUMN seed_url    text,                           -- where an attached source begins; NULL = nobody attached it
    ADD COLUMN path_prefix text NOT NULL DEFAULT '/',      -- only pages below belong to it
    ADD COLUMN page_limit  integer CHECK (page_limit >= 0),-- pages that its map and links may bring; NULL = known ones only
    ADD COLUMN paused      boolean NOT NULL DEFAULT false,
    ADD COLUMN map_read_at timestamptz,
    ADD COLUMN map_entries integer;                        -- of the last map; 0 = there is none

ALTER TABLE documents
    ADD COLUMN misses      integer NOT NULL DEFAULT 0,     -- answers in a row, on different days, that the page is not there
    ADD COLUMN miss_reason text,
    ADD COLUMN last_miss   timestamptz;
CREATE INDEX documents_next_check ON documents (source_id, next_check);

-- what the site says about its own pages; link candidates take their target's title and description from here
CREATE TABLE site_map_pages (
    source_id     integer NOT NULL REFERENCES sources ON DELETE CASCADE,
    url           text NOT NULL,
    title         text,
    description   text,
    listed_in     text NOT NULL,
    last_modified timestamptz,
    moved_at      timestamptz,                             -- when we saw last_modified change
    first_seen    timestamptz NOT NULL DEFAULT now(),
    last_seen     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (source_id, url)
);
CREATE INDEX site_map_pages_url ON site_map_pages (url);
ALTER TABLE link_candidates DROP COLUMN title, DROP COLUMN description, DROP COLUMN enriched_at;

-- how often a page had changed when a signal said so, and when it did not
CREATE TABLE change_signals (
    source_id       integer NOT NULL REFERENCES sources ON DELETE CASCADE,
    signal          text NOT NULL CHECK (signal IN ('sitemap', 'feed', 'validator')),
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
    UNIQUE (source_id, run_id)
);
