"""What each precision costs on this machine, measured side by side."""
