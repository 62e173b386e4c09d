"""Lets ``python -m wyoming_moss_nano`` do what the console command does."""

from .cli import run

if __name__ == "__main__":
    run()
