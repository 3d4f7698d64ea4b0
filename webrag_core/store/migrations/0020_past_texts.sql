-- Words of texts that are no longer current: which of them a search of the past reads. Only the beginning of a very
-- long text, whose words would not fit.
CREATE INDEX document_versions_past ON document_versions
    USING gin (to_tsvector('simple'::regconfig, left(markdown, 150000))) WHERE superseded_at IS NOT NULL;
