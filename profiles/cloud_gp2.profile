# An Amazon EBS gp2 volume of 100 GiB with its burst credits full.
model = cloud
depth = 64              # assumed
write_cache = no        # no FLUSH cost, assumed
base_iops = 300         # documentation: 3 per GiB, 100 at least
peak_iops = 3000        # documentation: burst
credits = 5400000       # documentation: 5.4 million, 30 minutes at 3000/s
credits_at_start = 100% # a fresh volume; set by hand to see the day after
throughput = 134217728  # documentation: 128 MiB/s below 170 GiB
io_size = 256k          # documentation
service = 500us         # assumed: 0.5 to 1 ms
jitter = 300us          # assumed
