"""Enclosures: values and Jacobians of functions on boxes of configurations, as intervals that hold by proof."""
