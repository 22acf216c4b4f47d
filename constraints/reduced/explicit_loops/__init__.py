"""Local loops as explicit constraints: found, chosen, in closed form or by Newton."""
