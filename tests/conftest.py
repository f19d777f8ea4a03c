"""Settings of all tests."""

import os
from pathlib import Path

# What one test or worker has compiled, the others need not compile again. Set before JAX is imported.
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(Path(__file__).parent.parent / ".pytest_cache" / "compiled"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.3")
