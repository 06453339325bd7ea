# SPDX-License-Identifier: Apache-2.0
"""Draw the losses of several runs of ``train.py`` into one picture: FILE... PICTURE."""

import json
import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt

*files, picture = map(Path, sys.argv[1:])
figure, axes = plt.subplots()
for number, file in enumerate(files):
    losses = json.loads(file.read_text(encoding="utf-8"))
    axes.plot(losses, label=file.stem, linestyle=("-", "--", ":")[number % 3], linewidth=2)
axes.set(xlabel="step", ylabel="loss", yscale="log")
axes.legend()
figure.savefig(picture)
print(f"{picture}: {len(files)} curves")
