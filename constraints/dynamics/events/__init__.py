"""Events of motions: where they are, hits and stops, floors; the balance of energy that they change."""
