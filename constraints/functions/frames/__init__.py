"""Functions of frames: positions, rotations and poses, relative ones too; centres of mass."""
