/* SPDX-License-Identifier: MIT */
#include "lab/loop.h"
#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#define TRIES 16	/* somebody else may take the free one first */

static int no_device(int code, struct err *e)
{
	if (code == -ENOENT || code == -ENXIO)
		return err_set(e, -ENODEV, "this machine has no loop devices: modprobe loop");
	return err_sys(e, -ENODEV, "there is no free loop device (losetup -a lists who has them): %s", strerror(-code));
}

static int configure(struct loop *l, int file, const char *path)
{
	struct loop_config c = { .fd = (unsigned)file, .info = { .lo_flags = LO_FLAGS_DIRECT_IO } };

	snprintf((char *)c.info.lo_file_name, LO_NAME_SIZE, "%s", path);
	return ioctl(l->fd, LOOP_CONFIGURE, &c) < 0 ? -errno : 0;
}

int loop_attach(const char *file, struct undo *u, struct loop *ret, struct err *e)
{
	cleanup_close int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC), back = -1;
	struct loop l = { .fd = -1 };
	struct stat st;
	int r = -EBUSY;

	if (control < 0)
		return no_device(-errno, e);
	back = open(file, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (back < 0 || fstat(back, &st))
		return err_sys(e, -errno, "cannot open the modelled disk %s", file);
	l.file_dev = st.st_dev;
	l.file_ino = st.st_ino;
	for (int i = 0; i < TRIES && r == -EBUSY; i++) {
		int id, n = ioctl(control, LOOP_CTL_GET_FREE);

		if (n < 0)
			return no_device(-errno, e);
		snprintf(l.name, sizeof(l.name), "loop%d", n);
		snprintf(l.path, sizeof(l.path), "/dev/%s", l.name);
		l.fd = open(l.path, O_RDWR | O_CLOEXEC);
		if (l.fd < 0)
			return no_device(-errno, e);
		r = undo_note(u, UNDO_LOOP, l.path, file, &id, e);
		if (!r) {
			r = configure(&l, back, file);
			if (!r)
				break;
			(void)undo_forget(u, id, NULL);
			err_sys(e, r, "cannot attach %s to %s", file, l.path);
		}
		loop_done(&l);
	}
	if (r)
		return r == -EBUSY ? no_device(r, e) : r;
	if (fstat(l.fd, &st) || loop_is_ours(&l, e)) {
		loop_done(&l);
		return -EPERM;
	}
	l.dev = st.st_rdev;
	*ret = l;
	return 0;
}

int loop_is_ours(const struct loop *l, struct err *e)
{
	struct loop_info64 info;

	if (ioctl(l->fd, LOOP_GET_STATUS64, &info) < 0)
		return err_sys(e, -EPERM, "%s is not ours any more: %s", l->path, strerror(errno));
	if (info.lo_inode != l->file_ino || info.lo_device != l->file_dev)
		return err_set(e, -EPERM, "%s has another file now (%.60s); it is left alone", l->path, (const char *)info.lo_file_name);
	return 0;
}

void loop_done(struct loop *l)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
}
