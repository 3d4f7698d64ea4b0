-- The language that a version is in, as its text shows (ISO 639; 'und': none is clear; NULL: not looked at yet), beside
-- `language`, which is what the page declares.
ALTER TABLE document_versions ADD COLUMN detected_language text;

-- Rules (of words: stop words, stems) that some postings were made by; a query is cut by each of them. Only grows.
CREATE TABLE lexical_rules (rules text PRIMARY KEY);
INSERT INTO lexical_rules SELECT 'en' WHERE EXISTS (SELECT FROM lexical_documents);
