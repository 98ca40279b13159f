"""Checks of the course itself: what course/check runs."""
