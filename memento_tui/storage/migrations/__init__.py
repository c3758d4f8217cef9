"""The numbered steps that lead an older database to the present schema."""
