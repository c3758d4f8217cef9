"""Tests on another day: the date of the system is moved for them and for every process that they start."""
