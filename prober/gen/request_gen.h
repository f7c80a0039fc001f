/* SPDX-License-Identifier: GPL-2.0 */
/* generated from prober/uapi/spek_prober.yaml, run `make gen` */

#ifndef _SPEK_PROBER_REQUEST_GEN_H
#define _SPEK_PROBER_REQUEST_GEN_H

#include "../../kmod/genl/request.h"

extern const struct spek_genl_record spek_prober_probe_start_request;
extern const struct spek_genl_record spek_prober_sample_get_request;
extern const struct spek_genl_record spek_prober_feed_open_request;
extern const struct spek_genl_record spek_prober_feed_mark_request;

#endif /* _SPEK_PROBER_REQUEST_GEN_H */
