"""A Wyoming text-to-speech server that clones an authorised voice on the CPU."""

from importlib.metadata import version

__version__ = version("wyoming-moss-nano")
