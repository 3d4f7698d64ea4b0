-- A new text that is not taken yet, as it looks like a loss of the site: how it was told, and by what it is known again.
-- While documents.miss_reason is near_empty or held_back; documents.misses counts the days on which it was seen.

ALTER TABLE documents ADD COLUMN held_as text, ADD COLUMN held_sketch bigint[];
COMMENT ON COLUMN documents.held_as IS 'why a new text is held back: near_empty, rewritten, same_text, shrunk';
COMMENT ON COLUMN documents.held_sketch IS 'digests of some of its words, the smallest first';
