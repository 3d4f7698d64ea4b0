"""Small repositories that a test writes: dated commits of files."""

from __future__ import annotations

import subprocess
from pathlib import Path


class WrittenRepository:
    """A repository in a folder. Every commit has the date it is given, as author's and as committer's date."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.git("init", "--quiet", "--initial-branch", "master")

    def git(self, *arguments: str, **environment: str) -> str:
        """Run git with a person's name and nothing of the developer's configuration."""
        person = {"NAME": "A. Person", "EMAIL": "person@example.org"}
        names = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in person.items()}
        done = subprocess.run(
            ["git", "-C", str(self.folder), *arguments],
            env={"PATH": "/usr/bin:/bin:/usr/local/bin", "GIT_CONFIG_GLOBAL": "/dev/null", **names, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def commit(self, date: str, message: str, **files: str | None) -> str:
        """Write files (`__` in a name is a slash, None removes it) and commit them; returns the commit."""
        for name, text in files.items():
            self.write(f"{name.replace('__', '/')}.md", text)
        return self.commit_all(date, message)

    def write(self, path: str, text: str | None) -> None:
        """Write or remove a file."""
        target = self.folder / path
        if text is None:
            target.unlink()
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)

    def commit_all(self, date: str, message: str) -> str:
        """Commit what is in the folder."""
        self.git("add", "--all")
        dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        self.git("commit", "--quiet", "--allow-empty", "--message", message, **dates)
        return self.git("rev-parse", "HEAD")
