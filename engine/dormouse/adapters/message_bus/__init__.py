"""Bells between processes or inside one."""
