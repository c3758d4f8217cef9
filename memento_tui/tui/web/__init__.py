"""The app in a browser on this machine: who may come in, the pages, and an app process for every window."""
