"""Published graphs in, graphs of our own out. Needs the extra ``all``."""
