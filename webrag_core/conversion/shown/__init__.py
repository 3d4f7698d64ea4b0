"""What a page shows on a click, in buttons, icons, tabs and lists of options, as text."""
