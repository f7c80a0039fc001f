// SPDX-License-Identifier: GPL-2.0
/* Shared sources, compiled again for this module. See Kbuild. */
#include "../core/muldiv.c"
#include "../genl/dump.c"
#include "../genl/family.c"
#include "../genl/refuse.c"
#include "../genl/request.c"
#include "../genl/table.c"
