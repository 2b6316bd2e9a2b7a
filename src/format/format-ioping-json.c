/* SPDX-License-Identifier: MIT */
/* ioping -J: an array with one object a request ("io") and summaries ("stat"). Times in nanoseconds. */
#include "format/jsondoc.h"
#include "format/text.h"

#include <errno.h>
#include <string.h>

struct ioping {
	const struct import_sink *sink;
	double t0;		/* stamp of the first request, seconds */
	bool target;		/* its facts are told */
	uint64_t waits, warmup;
};

static int target(struct ioping *p, json_t *o)
{
	static const char *const keys[] = { "path", "fstype", "device" };
	int r = 0;

	for (size_t i = 0; !r && i < 3; i++) {
		const char *v = jsondoc_string(json_object_get(o, "target"), keys[i]);

		if (v)
			r = p->sink->fact(p->sink->ctx, keys[i], v);
	}
	p->target = true;
	return r;
}

static int request(struct ioping *p, json_t *o)
{
	const char *op = jsondoc_string(o, "io/operation");
	double time, size = 0, stamp = 0;
	nsec_t wait, t = NSEC_NEVER;
	int series;

	if (!jsondoc_number(o, "io/time", &time) || !text_nsec(time, 1, &wait))
		return 0;
	if (json_is_true(jsondoc_at(o, "io/ignored"))) {
		p->warmup++;
		return 0;
	}
	jsondoc_number(o, "io/size", &size);
	if (jsondoc_number(o, "timestamp", &stamp) && stamp > 0) {
		if (!p->t0)
			p->t0 = stamp - time / 1e9;
		/* the stamp is taken when the request has ended */
		if (!text_nsec(stamp - p->t0 - time / 1e9, NSEC_PER_SEC, &t))
			t = NSEC_NEVER;
	}
	series = p->sink->series(p->sink->ctx, op ? op : "read", "requests of ioping", false, 0);
	if (series < 0)
		return series;
	p->waits++;
	return p->sink->wait(p->sink->ctx, series, t, wait, SAMPLE_OK, size > 0 && size < 1e18 ? (uint64_t)size : 0);
}

static int ioping_json_import(struct input *in, const struct import_sink *sink, struct err *e)
{
	struct ioping p = { .sink = sink };
	struct jsondoc d;
	json_t *doc, *o;
	uint64_t docs = 0;
	size_t i;
	int r = jsondoc_open(in, &d, e), more;

	if (r)
		return r;
	while (!r && (more = jsondoc_next(&d, &doc, e)) > 0) {
		in->truncated |= d.truncated;
		if (docs++)
			r = sink->next_run(sink->ctx, "", false);
		p.t0 = 0;
		json_array_foreach(doc, i, o) {
			if (!r && !p.target)
				r = target(&p, o);
			if (!r)
				r = request(&p, o);
		}
		json_decref(doc);
	}
	if (!r && !p.waits)
		r = err_set(e, -ENODATA, "'%s' holds no requests of ioping", in->name);
	if (!r && p.warmup)
		r = text_note(sink, NOTE_INFO, "%llu warm-up requests were left out, as ioping does",
			      (unsigned long long)p.warmup);
	if (!r)
		r = jsondoc_notes(&d, sink);
	jsondoc_close(&d);
	return r;
}

static int ioping_json_sniff(const uint8_t *head, size_t n, const char *name)
{
	return jsondoc_sniff(head, n, "\"io\"") && jsondoc_sniff(head, n, "\"operation\"") &&
	       jsondoc_sniff(head, n, "\"target\"") ? 95 : 0;
}

const struct format_ops format_ioping_json = {
	.plug = { .name = "ioping-json", .about = "ioping -J" },
	.sniff = ioping_json_sniff,
	.import = ioping_json_import,
};
