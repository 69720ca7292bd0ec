"""Networks and action distributions that RSL-RL does not have."""
