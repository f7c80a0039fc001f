/* SPDX-License-Identifier: GPL-2.0 */
/* error.h - errors: one sentence for the user, one errno for the program */
#ifndef SPEK_DAQ_ERROR_H
#define SPEK_DAQ_ERROR_H

/**
 * struct daq_error - description of an error
 * @text: one sentence: what was wrong, then what is allowed; no full stop, no newline
 */
struct daq_error {
	char text[400];
};

#ifdef __cplusplus
extern "C" {
#endif

/* Format the sentence; @err may be NULL. */
void daq_error_set(struct daq_error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#ifdef __cplusplus
}
#endif

/**
 * daq_fail() - format the sentence of an error
 * @err: may be NULL
 * @errno_value: a positive errno; config/options.c maps it to an exit code
 *
 * A macro, so that compilers see that the result is never 0.
 *
 * Return: -@errno_value.
 */
#define daq_fail(err, errno_value, ...) (daq_error_set((err), __VA_ARGS__), -(errno_value))

#endif
