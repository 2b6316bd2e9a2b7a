# No disk at all: what the lab itself costs (loop, FUSE, the server).
model = null
depth = 128             # as many as loop sends
write_cache = no        # nothing to flush
service = 0             # none
law = fixed             # none
servers = 1             # none
