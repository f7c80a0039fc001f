"""Modelled drives: descriptions as numbers that the core in kmod/drive/core takes."""
