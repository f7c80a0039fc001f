/* SPDX-License-Identifier: GPL-2.0 */
/* generated from kmod/load/uapi/spek.yaml, run `make gen` */

#ifndef _SPEK_REQUEST_GEN_H
#define _SPEK_REQUEST_GEN_H

#include "../../genl/request.h"

extern const struct spek_genl_record spek_run_request;
extern const struct spek_genl_record spek_claim_request;

#endif /* _SPEK_REQUEST_GEN_H */
