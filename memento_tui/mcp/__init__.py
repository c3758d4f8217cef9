"""What agents use: the MCP server and its tools, and how memories are put in front of a model."""
