"""What the oldest PyTensor that inlay runs with lacks. Debian's own Python 3.11 gets that one from pip."""

import pytensor
import scipy

OLD_PYTENSOR = int(pytensor.__version__.split(".")[0]) < 3
OLD_SCIPY = tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 18)
