/* SPDX-License-Identifier: GPL-2.0 */
/* Refusal of a request: errno, sentence, and the part of the request it is about. */
#ifndef SPEK_CORE_REFUSAL_H
#define SPEK_CORE_REFUSAL_H

#include "spek_host.h"

/**
 * struct spek_refusal - why a request was refused
 * @kind: kind of the part, an enum of the module's contract; 0: the request as a whole
 * @index: index of that part among its kind
 * @err: negative errno
 * @text: constant sentence for the user: capital, what was wrong, what is allowed, full stop;
 *	NULL if the errno is enough
 */
struct spek_refusal {
	u32 kind;
	u32 index;
	int err;
	const char *text;
};

/**
 * spek_refuse_part() - refuse with a sentence about the part that @refusal already names
 * @refusal: @kind and @index are set
 * @err: negative errno
 * @text: constant sentence
 *
 * Return: @err.
 */
static inline int spek_refuse_part(struct spek_refusal *refusal, int err, const char *text)
{
	refusal->err = err;
	refusal->text = text;
	return err;
}

/**
 * spek_refuse() - refuse with a sentence
 * @refusal: filled in
 * @kind: kind of the part, an enum of the module's contract
 * @index: index of that part
 * @err: negative errno
 * @text: constant sentence
 *
 * Return: @err.
 */
static inline int spek_refuse(struct spek_refusal *refusal, u32 kind, u32 index, int err,
			      const char *text)
{
	refusal->kind = kind;
	refusal->index = index;
	return spek_refuse_part(refusal, err, text);
}

#endif
