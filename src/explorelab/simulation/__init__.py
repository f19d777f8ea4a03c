"""Simulation of agents on tasks."""
