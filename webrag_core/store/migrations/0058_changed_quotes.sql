-- Which quotes were last found changed: the feed of answers reads the latest of them.

CREATE INDEX IF NOT EXISTS citation_checks_changed ON citation_checks (checked_at) WHERE state IN ('changed', 'gone');
