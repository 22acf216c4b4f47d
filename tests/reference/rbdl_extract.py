"""Makes `tests/data/rbdl.json` from a folder with the full results of RBDL 3.3.1: what the tests compare with.

python tests/reference/rbdl_extract.py FOLDER tests/data/rbdl.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

MODELS = ("fivebar_planar", "fourbar_planar", "slidercrank3d", "double_pendulum_absolute")
LOOPS = ("loop_orientation_rows", "loop_prismatic_rows")
STATE = ("label", "q_inplace", "qdot", "position_error", "velocity_error", "G", "gamma")
MODEL = ("name", "gravity", "bodies", "constraint_rows")


def part(d: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {k: d[k] for k in keys if k in d}


def near(d: dict[str, Any], own: dict[str, Any]) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    for a in d["assembly_q"]:
        if a["label"].startswith("near"):
            r = own[a["label"]]
            out.append(
                {
                    "label": a["label"],
                    "guess": a["guess_inplace"],
                    "weights": a["weights"],
                    "rbdl_success": a["success"],
                    "rbdl_iterations": a["min_iterations"],
                    "rbdl_cost": r["rbdl"]["cost"],
                    "own_cost": r["weighted_projection"]["cost"],
                    "own_iterations": r["newton_exact_derivative"]["iterations"],
                }
            )
    return out


def main(folder: Path, target: Path) -> None:
    own = json.loads((folder / "assembly_projection_own.json").read_text())["rows"]
    out: dict[str, Any] = {
        "source": "RBDL 3.3.1 (commit d2ca037), results only; `own` is not RBDL: the true weighted projection and "
        "Newton with exact derivatives, by pinocchio and scipy from the same data",
        "conventions": "spatial vectors angular then linear; placements map child to parent coordinates; q in "
        "pinocchio's order, quaternions xyzw",
        "models": {},
        "loops": {},
    }
    for name in MODELS:
        d = json.loads((folder / f"{name}.json").read_text())
        out["models"][name] = {
            "model": part(d["model"], MODEL),
            "states": [part(s, STATE) for s in d["states"]],
            "near": near(d, {r["label"]: r for r in own if r["model"] == name}),
            "velocities": [
                part(a, ("q_inplace", "qdot_init", "weights", "qdot")) for a in d["assembly_qdot"] if "q_inplace" in a
            ],
        }
    for name in LOOPS:
        d = json.loads((folder / f"{name}.json").read_text())
        out["loops"][name] = part(d, ("model", *STATE[1:6], "finite_difference_of_position_error"))
    target.write_text(json.dumps(out, separators=(",", ":")))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
