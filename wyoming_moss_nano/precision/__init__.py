"""How exactly the model computes: compiling graphs, proving them, and choosing among them."""
