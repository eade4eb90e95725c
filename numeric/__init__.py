"""The claims on arrays: any array library, any precision, any scale."""
