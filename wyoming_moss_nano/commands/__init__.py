"""What each subcommand does; the command line itself is read in cli.py."""
