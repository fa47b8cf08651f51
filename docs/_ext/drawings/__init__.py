"""Drawings as SVG, made of tables and settings when the site is built."""
