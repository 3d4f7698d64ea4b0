-- Sitemaps and inventories that did not exist: they are not requested at every check of their source.

CREATE TABLE absent_map_files (
    source_id    integer NOT NULL REFERENCES sources ON DELETE CASCADE,
    url          text NOT NULL,
    requested_at timestamptz NOT NULL,
    PRIMARY KEY (source_id, url)
);
