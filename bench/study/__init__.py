"""Parts that the studies share: contenders, a clock, results to resume, charts."""
