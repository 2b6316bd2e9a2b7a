# A cheap USB stick: quick while it writes into few erase blocks, terribly slow beyond.
model = flash
depth = 1               # usb-storage: one request at a time
write_cache = no        # usual
unit = 4M               # flashbench README: typical
open = 5                # flashbench README: 2 to 10
page = 8k               # flashbench README: 8 kB, 16 kB with two planes
read_rate = 20M         # assumed; with the command 1 kB takes 0.75 ms as flashbench saw
write_rate = 8M         # flashbench README: 6 to 9 MB/s inside the open blocks
copy_rate = 16M         # ours, so that 256 kB blocks beyond the open ones make the 0.9 MB/s of the README
command = 700us         # flashbench README: 0.75 ms for a read of 1 kB
erase = 2ms             # assumed
flush = 0               # assumed: nothing is cached
linear_only = no        # assumed
flush_closes = no       # assumed
