"""Shared parts of the studies: contenders, timing, resumable results, charts."""
