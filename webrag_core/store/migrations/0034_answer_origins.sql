-- Who asked for an answer: cli, mcp, library, dagster …, or `answer` for a run that gathers evidence for another answer.
-- NULL: older than this.

ALTER TABLE answer_runs ADD COLUMN origin text;
CREATE INDEX answer_runs_ended ON answer_runs (ended_at) WHERE state = 'done';

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
