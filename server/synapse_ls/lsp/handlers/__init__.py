"""Request and notification handlers: find, convert in, call one feature, convert out."""
