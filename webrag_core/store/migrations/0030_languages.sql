-- The language that a version is in, as its text shows (ISO 639; 'und': none is clear; NULL: not looked at yet), beside
-- `language`, which is what the page declares.
ALTER TABLE document_versions ADD COLUMN detected_language text;

-- Rules (of words: stop words, stems) that some postings were made by; a query is cut by each of them. Only grows.
CREATE TABLE lexical_rules (rules text PRIMARY KEY);
INSERT INTO lexical_rules SELECT 'en' WHERE EXISTS (SELECT FROM lexical_documents);

CREATE FUNCTION language_group(tag text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE split_part(lower(replace(tag, '_', '-')), '-', 1)
    WHEN 'nb' THEN 'no' WHEN 'nn' THEN 'no' WHEN 'iw' THEN 'he' WHEN 'in' THEN 'id' WHEN 'ms' THEN 'id'
    WHEN 'yue' THEN 'zh' WHEN 'wuu' THEN 'zh' WHEN 'cmn' THEN 'zh' WHEN 'prs' THEN 'fa' WHEN 'arz' THEN 'ar'
    WHEN 'hr' THEN 'sr' WHEN 'bs' THEN 'sr' WHEN 'sh' THEN 'sr' WHEN 'cnr' THEN 'sr' WHEN 'fil' THEN 'tl'
    WHEN 'gl' THEN 'pt' ELSE split_part(lower(replace(tag, '_', '-')), '-', 1)
END;

-- The language of a version, in lower case (BCP 47): what the page declares where its text does not show another, else
-- what the text shows. Languages that can hardly be told apart do not contradict each other.
CREATE FUNCTION language_of(declared text, detected text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN detected IS NULL OR detected = 'und' THEN lower(replace(declared, '_', '-'))
    WHEN declared IS NULL OR language_group(declared) <> language_group(detected) THEN detected
    ELSE lower(replace(declared, '_', '-'))
END;
