-- Removal on request: that it happened stays known, what was removed does not. Digests are sha256 of UTF-8.

CREATE TABLE removals (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    removed_at     timestamptz NOT NULL DEFAULT now(),
    kind           text NOT NULL CHECK (kind IN ('page', 'source', 'answer')),
    subject_sha256 text NOT NULL CHECK (length(subject_sha256) = 64),  -- of the canonical URL, source key or answer id
    removed_by     text NOT NULL,
    counts         jsonb NOT NULL                                      -- rows by kind
);

-- pages that are not stored again until somebody asks for them by name
CREATE TABLE forgotten_urls (
    url_sha256    text PRIMARY KEY CHECK (length(url_sha256) = 64),
    source_sha256 text,                                    -- of its source's key, where the whole source was removed
    forgotten_at  timestamptz NOT NULL DEFAULT now()
);

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

-- lines of forgotten pages in the ledger of a run, which its refresh may have counted
CREATE TABLE removed_lines (
    run_id text PRIMARY KEY,
    lines  integer NOT NULL
);
ALTER TABLE refresh_runs DROP COLUMN removed;

-- how far followers of the outbox have read; lines that one of them has not read are kept
CREATE TABLE outbox_readers (
    name    text PRIMARY KEY,
    horizon xid8 NOT NULL,
    read_at timestamptz NOT NULL DEFAULT now()
);

ALTER TABLE embedding_models ADD COLUMN state_since timestamptz NOT NULL DEFAULT now();
CREATE FUNCTION stamp_state() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.state_since := now();
    RETURN NEW;
END $$;
CREATE TRIGGER embedding_models_state BEFORE UPDATE OF state ON embedding_models
    FOR EACH ROW WHEN (OLD.state IS DISTINCT FROM NEW.state) EXECUTE FUNCTION stamp_state();
