"""What the faces share: the services they work with, and how they refuse."""
