"""Prose that is laid out with blanks and line ends alone: recognised by its shape, and cut into blocks."""
