"""A driver turned all the way: continuation, singularities, transmission angles, other branches."""
