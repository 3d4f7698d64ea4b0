"""What the pages cost those who read them."""
