"""A run's surroundings: the machine and its readiness, measurement records, lessons run without a screen."""
