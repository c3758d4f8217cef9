"""HTTP: Memento Protocol's REST interface at ``/v1`` and MCP at ``/mcp``, behind one guard."""
