"""Makes `tests/data/rbdl_inverse.json` from a folder with the full results of RBDL 3.3.1: inverse dynamics.

python tests/reference/rbdl_inverse_extract.py FOLDER tests/data/rbdl_inverse.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

MODELS = ("fivebar_planar", "fourbar_planar", "slidercrank3d", "double_pendulum_absolute", "humanoid_4contacts")
ASKED = ("label", "q_inplace", "qdot", "actuated", "qdd_desired", "fully_actuated", "exact", "relaxed")
SYSTEM = ("H", "C", "G", "gamma")


def main(folder: Path, target: Path) -> None:
    out: dict[str, Any] = {
        "source": "RBDL 3.3.1 (commit d2ca037), results only",
        "conventions": "q in pinocchio's order, quaternions xyzw; v as there; H qdd + C = tau + G^T force",
        "models": {},
    }
    for name in MODELS:
        d = json.loads((folder / f"{name}.json").read_text())
        states = {(*s["q_inplace"], *s["qdot"]): s for s in d["states"]}
        asked: list[dict[str, Any]] = []
        for each in d["inverse_dynamics"]:
            entry = {k: each[k] for k in ASKED}
            if name == "slidercrank3d":
                entry |= {k: states[(*each["q_inplace"], *each["qdot"])][k] for k in SYSTEM}
            asked.append(entry)
        out["models"][name] = {"states": asked}
        if name == "humanoid_4contacts":
            out["models"][name]["model"] = {k: d["model"][k] for k in ("name", "gravity", "bodies", "constraint_rows")}
    target.write_text(json.dumps(out, separators=(",", ":")))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
