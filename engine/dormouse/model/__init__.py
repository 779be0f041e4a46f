"""What the engine talks about: plain immutable records without I/O."""
