"""The command ``course``: a thin layer over the rest of the package."""
