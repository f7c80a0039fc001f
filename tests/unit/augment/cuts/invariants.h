/* SPDX-License-Identifier: GPL-2.0 */
#ifndef INVARIANTS_H
#define INVARIANTS_H

void check_invariants(void);

#endif
