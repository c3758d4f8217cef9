"""The app in a browser on this machine: access control, the pages, and an app process for each window."""
