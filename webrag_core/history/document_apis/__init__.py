"""Documents by identifier and date, from a web archive, stored laws and folders under git. Every reply is a stored
version."""
