# An Amazon EBS gp3 volume as it comes: 3000 operations and 125 MiB a second, no credits.
model = cloud
depth = 64              # assumed
write_cache = no        # no FLUSH cost, assumed
base_iops = 3000        # documentation
peak_iops = 3000        # documentation
credits = 0             # documentation: no burst
credits_at_start = 0%   # none to save
throughput = 131072000  # documentation: 125 MiB/s
io_size = 256k          # documentation
service = 500us         # assumed: 0.5 to 1 ms
jitter = 300us          # assumed
