"""Site walks: golden questions, walks over frozen sites, their logs, scores and replay."""
