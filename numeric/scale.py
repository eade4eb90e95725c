"""The claims at scale: checks on arrays of any library, at sizes where nobody forms an n × n array."""
