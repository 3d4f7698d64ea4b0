"""Layer 1: a URL in, a stored document version out. Face: `service.Ingestor`; the only way to the network: `gate`."""
