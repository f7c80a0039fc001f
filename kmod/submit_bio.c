// SPDX-License-Identifier: GPL-2.0
/* Back end bio: the way every file system uses. Works on every block device. */
#include <linux/bio.h>
#include "slot.h"
#include "submit.h"

static const char *unfit(const struct spek_target *target)
{
	return NULL;
}

static bool takes_tags_ahead(const struct spek_target *target)
{
	return true;
}

static int submit(struct spek_part *part)
{
	submit_bio(&part->bio);
	return 0;
}

const struct spek_backend_ops spek_backend_bio = {
	.id = SPEK_BACKEND_BIO,
	.cgroup = true,
	.unfit = unfit,
	.takes_tags_ahead = takes_tags_ahead,
	.submit = submit,
};
