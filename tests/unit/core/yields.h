/* SPDX-License-Identifier: GPL-2.0 */
/* Counts how often a core lets others run; before every other header. */
unsigned long yields __attribute__((weak));
#define spek_yield() ((void)yields++)
