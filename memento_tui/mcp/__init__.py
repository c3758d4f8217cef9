"""The MCP server: its profiles, tools, prompts and resources, and the results that a model reads."""
