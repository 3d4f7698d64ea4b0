-- What somebody wants to be told of: a page, a section of one, or a question; and what it is compared with.

CREATE TABLE watches (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind         text NOT NULL CHECK (kind IN ('page', 'section', 'question')),
    url          text,
    heading      text[] NOT NULL DEFAULT '{}',
    question     text,
    sources      text[] NOT NULL DEFAULT '{}',
    pace         text NOT NULL DEFAULT 'at_once' CHECK (pace IN ('at_once', 'daily')),
    digest       bytea NOT NULL UNIQUE,
    declared_in  text,
    created_at   timestamptz NOT NULL DEFAULT now(),
    version_id   integer REFERENCES document_versions (id) ON DELETE SET NULL,
    seen_version integer,
    gone         boolean NOT NULL DEFAULT false,
    answer_id    bigint REFERENCES answer_runs (id) ON DELETE SET NULL,
    pages        text,
    looked_at    timestamptz,
    sent_at      timestamptz,
    postponed_to timestamptz,
    CHECK ((kind = 'question') = (url IS NULL)),
    CHECK ((kind = 'question') = (question IS NOT NULL)),
    CHECK ((kind = 'section') = (heading <> '{}'))
);
CREATE INDEX watches_of_version ON watches (version_id);
CREATE INDEX watches_of_answer ON watches (answer_id);
COMMENT ON COLUMN watches.digest IS 'SHA-256 of what is watched, which is longer than an index takes.';
COMMENT ON COLUMN watches.version_id IS 'The text that changes are told against; NULL = the next look takes one.';
COMMENT ON COLUMN watches.seen_version IS 'The version of the last look, which may differ from it in layout alone.';
COMMENT ON COLUMN watches.gone IS 'Whether the page or section was missing at the last look.';
COMMENT ON COLUMN watches.answer_id IS 'The answer that later ones are compared with; NULL = the next one.';
COMMENT ON COLUMN watches.pages IS 'Digest of the versions that its sources had when the question was answered last.';
