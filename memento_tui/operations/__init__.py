"""The operations that agent-facing interfaces carry out on a workspace, without any protocol's names and schemas."""
