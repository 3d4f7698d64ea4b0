"""What is stored: documents, versions, sources, the ledger; ingestion, refresh, verification and status."""
