"""What every agent-facing interface does with a workspace, whatever its names and schemas."""
