"""How memories age, earn trust, are compared, gathered and learned: rules, and the jobs that apply them."""
