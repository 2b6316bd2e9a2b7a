# An SD card of the small sort: two open erase blocks that take writes in rising order only.
model = flash
depth = 1               # SD: one command at a time
write_cache = no        # usual
unit = 4M               # LWN 428584: typical
open = 2                # LWN 428584: some cards hold no more
page = 16k              # LWN 428584
read_rate = 20M         # SD class 10 at high speed: 25 MB/s bus, assumed share
write_rate = 10M        # class 10: 10 MB/s, sequential
copy_rate = 12M         # assumed; a half-second for one block was seen (LWN 428584)
command = 500us         # assumed
erase = 2ms             # assumed
flush = 0               # assumed
linear_only = yes       # LWN 428584: some cards
flush_closes = no       # assumed
