"""Why a projection failed."""
