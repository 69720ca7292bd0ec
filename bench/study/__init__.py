"""What the studies share: contenders, a clock, results that can be resumed, charts."""
