"""What a process tells of itself while it runs: logs, traces and metrics."""
