"""casefiles."""
