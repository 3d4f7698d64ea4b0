-- Words of each page, as the search index that a site ships has them; and when a run last read a few files of its own
-- about the site (`map_read_at` is of the whole map, which refreshes read).
ALTER TABLE site_map_pages ADD COLUMN words text NOT NULL DEFAULT '';
ALTER TABLE sources ADD COLUMN described_at timestamptz;
