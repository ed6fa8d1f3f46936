"""Runs the job with spark-submit, which takes the path of a file and not the name of a module.

    spark-submit "$(python -c 'import minwise.spark.submit as program; print(program.__file__)')" --input … --output … --work …
"""

from __future__ import annotations

import sys

from minwise.spark.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
