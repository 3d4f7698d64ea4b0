"""What people and models say about answers, and what may become of it: golden questions."""
