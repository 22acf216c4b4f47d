"""Extract of RBDL's reference results for the tests of dynamics: what `rbdl_dynamics.json` has, and how it was made.

python tests/data/rbdl_dynamics.py ../shared/reference/rbdl
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

STATES = ("fivebar_planar", "fourbar_planar", "slidercrank3d", "double_pendulum_absolute", "humanoid_4contacts")
SINGULAR = ("humanoid_4contacts_redundant", "fourbar_redundant_rows")
LOOPS = ("loop_orientation_rows", "loop_prismatic_rows")
OF_STATES = (
    "label", "q_inplace", "qdot", "tau", "position_error", "velocity_error", "G", "H", "C", "gamma", "fd",
    "gamma_baumgarte_T0.1", "fd_baumgarte", "fd_external_force", "impulses", "calcForces_after_direct",
)  # fmt: skip
OF_LOOPS = ("q_inplace", "qdot", "tau", "qdd_direct_at_rest", "relative_angular_acceleration", "velocity_error")
LEFT_OUT = (
    "note", "v_index", "root_frame", "q_rbdl", "qdot_init", "calcImpulses_after_direct",
    "calcImpulses_after_range_space",
)  # fmt: skip


def trimmed(value: Any) -> Any:
    """Without what no test reads."""
    if isinstance(value, dict):
        return {key: trimmed(item) for key, item in value.items() if key not in LEFT_OUT}
    return [trimmed(item) for item in value] if isinstance(value, list) else value


def extract(folder: Path) -> dict[str, Any]:
    """The parts of the files that the tests read."""
    out: dict[str, Any] = {"source": "RBDL 3.3.1, results only; conventions as in rbdl.json"}
    files = {name: json.loads((folder / f"{name}.json").read_text()) for name in (*STATES, *SINGULAR, *LOOPS)}
    for name in STATES:
        states = [{key: state[key] for key in OF_STATES if key in state} for state in files[name]["states"]]
        out[name] = {"model": files[name]["model"], "states": states}
    out["double_pendulum_absolute"]["extra"] = files["double_pendulum_absolute"]["extra"]
    for name in SINGULAR:
        out[name] = {"model": files[name]["model"], "singular": files[name]["singular"]}
    for name in LOOPS:
        out[name] = {"model": files[name]["model"]} | {key: files[name][key] for key in OF_LOOPS}
    return trimmed(out)


if __name__ == "__main__":
    target = Path(__file__).with_suffix(".json")
    target.write_text(json.dumps(extract(Path(sys.argv[1])), separators=(",", ":")) + "\n")
