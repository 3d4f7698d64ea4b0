-- Which corpus this is, in its backups too: a list of removals is applied to backups of the same corpus alone. Made with
-- the first backup or list.

CREATE TABLE corpus_identity (
    id uuid PRIMARY KEY
);
CREATE UNIQUE INDEX corpus_identity_once ON corpus_identity ((true));
