-- Pages whose next request is unconditional, to see whether the site's validators move when a text does.

ALTER TABLE documents ADD COLUMN ask_whole text CHECK (ask_whole IN ('audit', 'lies'));
COMMENT ON COLUMN documents.ask_whole IS
    'audit: its turn to be asked whole; lies: its validators did not move when its text did, so it is asked whole always';
