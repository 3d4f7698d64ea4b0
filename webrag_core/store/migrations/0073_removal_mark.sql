-- What a page is converted from includes what was removed on request by then. That is a mark, which is another one after
-- each removal and when a page is allowed again: to count what is forgotten took as long as the list of it.

CREATE TABLE removal_mark (
    id   boolean PRIMARY KEY DEFAULT true CHECK (id),      -- one row
    mark text NOT NULL
);
-- the mark of before, by which pages that are stored were converted
INSERT INTO removal_mark (mark)
    SELECT (SELECT coalesce(max(id), 0) FROM removals) || '/' || (SELECT count(*) FROM forgotten_urls);

CREATE FUNCTION mark_removal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO removal_mark AS m (mark) VALUES (gen_random_uuid()) ON CONFLICT (id) DO UPDATE SET mark = EXCLUDED.mark
        WHERE m.xmin <> pg_current_xact_id()::xid;         -- once in a transaction
    RETURN NULL;
END $$;
-- deferred: its row is locked last of all, so that no two removals wait for each other
CREATE CONSTRAINT TRIGGER forgotten_urls_changed AFTER INSERT OR DELETE ON forgotten_urls
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION mark_removal();
