-- Sources whose pages are rendered in a browser.

ALTER TABLE sources DROP CONSTRAINT sources_acquirer_check;
ALTER TABLE sources ADD CONSTRAINT sources_acquirer_check CHECK (acquirer IN ('http', 'firecrawl', 'browser'));
