"""The only package that speaks the Language Server Protocol."""
