-- What a text says of its own time, apart from when it was seen; and works: versions of one document that stand beside
-- each other at different addresses.

CREATE TABLE version_validity (
    version_id integer NOT NULL REFERENCES document_versions ON DELETE CASCADE,
    valid      daterange NOT NULL CHECK (NOT isempty(valid)),  -- half-open; no bound where none is stated
    kind       text NOT NULL CHECK (kind IN ('in_force', 'applicable', 'published', 'release')),
    -- said by the text, by metadata of its page, by the history it was read from; `undated`: that history has the text
    -- without a credible date, and it came into force at some time in this range
    basis      text NOT NULL CHECK (basis IN ('text', 'metadata', 'history', 'undated')),
    char_start integer CHECK (char_start >= 0),                -- where the text says so
    char_end   integer CHECK (char_end > char_start),
    PRIMARY KEY (version_id, kind, valid, basis),
    CHECK ((basis = 'text') = (char_start IS NOT NULL) AND (basis = 'text') = (char_end IS NOT NULL))
);

ALTER TABLE document_versions ADD COLUMN dates_read text;      -- which reader looked for dates in the text

CREATE VIEW contract.v_validity AS
SELECT v.document_id AS doc_id, v.number AS version, y.kind, lower(y.valid) AS valid_from, upper(y.valid) AS valid_until,
       y.basis, y.char_start, y.char_end
FROM version_validity y JOIN document_versions v ON v.id = y.version_id;

CREATE TABLE works (
    id    integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key   text NOT NULL,                                       -- the address with {version} for the version
    title text NOT NULL,                                       -- without numbers; empty where an operator says so
    UNIQUE (key, title)
);

CREATE TABLE work_members (
    work_id     integer NOT NULL REFERENCES works,
    document_id integer NOT NULL REFERENCES documents ON DELETE CASCADE,
    label       text NOT NULL CHECK (label <> ''),             -- the version as the address has it
    PRIMARY KEY (work_id, document_id)
);
CREATE INDEX work_members_document ON work_members (document_id);

-- of which version the title was read, and by which pattern
CREATE TABLE work_pages (
    document_id integer PRIMARY KEY REFERENCES documents ON DELETE CASCADE,
    version_id  integer NOT NULL,
    pattern     text NOT NULL
);

ALTER TABLE sources ADD COLUMN versions_in_path text;          -- such as /{version}/; NULL: versions are recognised
