/* SPDX-License-Identifier: GPL-2.0 */
/* error.h - what went wrong, as one sentence for the user and one errno for the program */
#ifndef SPEK_DAQ_ERROR_H
#define SPEK_DAQ_ERROR_H

/**
 * struct daq_error - a failure
 * @text: one sentence: what was wrong, what is allowed; without a full stop's newline
 */
struct daq_error {
	char text[400];
};

#ifdef __cplusplus
extern "C" {
#endif

/* The sentence of a failure; @err may be NULL. */
void daq_error_set(struct daq_error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#ifdef __cplusplus
}
#endif

/**
 * daq_fail() - write the sentence of a failure
 * @err: may be NULL
 * @errno_value: a positive errno; options.c lists which becomes which exit code
 *
 * A macro, so that compilers see that it is never 0.
 *
 * Return: -@errno_value, to be handed on.
 */
#define daq_fail(err, errno_value, ...) (daq_error_set((err), __VA_ARGS__), -(errno_value))

#endif
