"""Ahead of time: programs as files that need no traceir. Serves: artefact.*"""
