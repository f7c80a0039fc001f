// SPDX-License-Identifier: GPL-2.0
/* Shared sources, compiled again for this module. See Kbuild. */
#include "../kmod/core/muldiv.c"
#include "../kmod/genl/dump.c"
#include "../kmod/genl/family.c"
#include "../kmod/genl/refuse.c"
#include "../kmod/genl/request.c"
#include "../kmod/genl/table.c"
