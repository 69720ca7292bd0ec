"""Mutation testing: faults that are planted one at a time, and must fail a test."""
