"""The program: ``python -m wyoming_moss_nano`` and the console command."""

import os
import sys


def run() -> None:
    """Run the command line of this process and exit."""
    # NumPy's own threads would compete with those of ONNX Runtime and are hardly ever of use here;
    # its library reads this when it is loaded
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    from .cli import main  # noqa: PLC0415 - loads NumPy

    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    run()
