/* SPDX-License-Identifier: GPL-2.0 */
/* generated from dkms.conf, run make gen */
#ifndef SPEK_VERSION_H
#define SPEK_VERSION_H

#define SPEK_VERSION "0.1.0"

#endif
