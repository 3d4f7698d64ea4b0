-- Whether the site answered a refresh that found no page due: with its map. A refresh that asked nothing is no answer.

ALTER TABLE refresh_runs ADD COLUMN map_entries integer CHECK (map_entries >= 0);
COMMENT ON COLUMN refresh_runs.map_entries IS 'pages that the site''s map named in this refresh; null = no map was read';
