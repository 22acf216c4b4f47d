"""Write tests/data/hpp_extract.npz: a few starts and results of the nine projection problems run with hpp-constraints.

    python tests/reference/hpp_extract.py FOLDER

FOLDER holds the whole reference files, `hpp_<problem>.npz`, made with hpp-constraints 9.0.2 through its Python
bindings. Of each problem: its description (`problem`, JSON), thirty starts (`q0`), and ten results (`q`, `error`,
`success`, `in_bounds`), six of them with bounds and backtracking, four without bounds, successes and failures.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

NAMES = (
    "ur5_pose",
    "panda_pose",
    "pr2_dual",
    "talos_stance_near",
    "talos_stance_far",
    "ur5_grasp_explicit",
    "ur5_grasp_implicit",
    "ur5_place_explicit",
    "talos_hands",
)
PROVENANCE = (
    "hpp-constraints 9.0.2 (its Python bindings), error threshold 1e-4, 40 iterations: results with line search "
    "Backtracking and joint bounds (first six), and without bounds (last four); "
    "written by tests/reference/hpp_extract.py"
)


def chosen(success: np.ndarray, count: int) -> list[int]:
    """The first rows, at least two successes and (where there is one) a failure among them."""
    good, bad = np.flatnonzero(success).tolist(), np.flatnonzero(~success).tolist()
    failures = bad[: max(1, count // 3)]
    return sorted(good[: count - len(failures)] + failures)[:count]


def main(folder: Path) -> None:
    data: dict[str, np.ndarray] = {"provenance": np.array(PROVENANCE), "names": np.array(NAMES)}
    for name in NAMES:
        with np.load(folder / f"hpp_{name}.npz") as whole:
            data[f"{name}/problem"] = whole["problem"]
            data[f"{name}/q0"] = whole["q0"][:30]
            data[f"{name}/error_threshold"] = whole["error_threshold"]
            parts = [("proj_Backtracking", 6), ("raw", 4)]
            rows = [chosen(whole[f"{run}_success"].astype(bool), count) for run, count in parts]
            for key in ("q", "error", "success", "in_bounds"):
                pieces = [whole[f"{run}_{key}"][r] for (run, _), r in zip(parts, rows, strict=True)]
                data[f"{name}/{key}"] = np.concatenate(pieces)
    np.savez_compressed(Path(__file__).parent.parent / "data" / "hpp_extract.npz", **data)  # type: ignore[arg-type]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
