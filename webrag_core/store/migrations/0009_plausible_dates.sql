-- Dates that pages, sitemaps and feeds claim and nobody can have meant (year 1, year 9999, BC) were stored as they came.
-- Clients cannot even load some of them. `last_modified` of documents is text, all other times are our own clock's.
UPDATE document_versions SET published = NULL
WHERE published < '1990-01-01T00:00:00Z' OR published > now() + interval '1 day';
UPDATE document_versions SET modified = NULL
WHERE modified < '1990-01-01T00:00:00Z' OR modified > now() + interval '1 day';
UPDATE site_map_pages SET last_modified = NULL
WHERE last_modified < '1990-01-01T00:00:00Z' OR last_modified > now() + interval '1 day';
