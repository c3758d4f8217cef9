"""The benchmarks: ratios of memento to the bare parts it is made of, measured side by side in one run."""
