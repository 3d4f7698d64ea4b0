-- A page that was to be asked, and that the limit of a refresh left to a later one, is not a page that is not due.

ALTER TABLE refresh_runs ADD COLUMN put_off integer NOT NULL DEFAULT 0 CHECK (put_off >= 0);
COMMENT ON COLUMN refresh_runs.put_off IS 'to be asked, and left to a later refresh by the limit';
