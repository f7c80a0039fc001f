/* SPDX-License-Identifier: GPL-2.0 */
/* How a module says no: errno, sentence, and which part of the request is to blame. */
#ifndef SPEK_CORE_REFUSAL_H
#define SPEK_CORE_REFUSAL_H

#include "spek_host.h"

/**
 * struct spek_refusal - why a request was refused
 * @kind: what kind of part the sentence is about, by the module's own enum; 0: the whole request
 * @index: index of that part among its kind
 * @err: negative errno
 * @text: constant sentence for the user: capital, what was wrong, what is allowed, full stop;
 *	NULL where the errno says it all
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
 * @kind: what kind of part the sentence is about
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
