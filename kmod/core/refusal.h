/* SPDX-License-Identifier: GPL-2.0 */
/* How a module says no: errno, sentence, and which part of the request is to blame. */
#ifndef SPEK_CORE_REFUSAL_H
#define SPEK_CORE_REFUSAL_H

#include "spek_host.h"

/** enum spek_refusal_kind - part of a request that a refusal is about; RUN: none in particular */
enum spek_refusal_kind {
	SPEK_REFUSAL_RUN,
	SPEK_REFUSAL_TARGET,
	SPEK_REFUSAL_WORKER,
	SPEK_REFUSAL_STREAM,
	SPEK_REFUSAL_ASU,
	SPEK_REFUSAL_ARRIVAL,
};

/**
 * struct spek_refusal - why a request was refused
 * @kind: what kind of part the sentence is about
 * @index: index of that part among its kind
 * @err: negative errno
 * @text: constant sentence for the user: capital, what was wrong, what is allowed, full stop;
 *	NULL where the errno says it all
 */
struct spek_refusal {
	enum spek_refusal_kind kind;
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
static inline int spek_refuse(struct spek_refusal *refusal, enum spek_refusal_kind kind, u32 index,
			      int err, const char *text)
{
	refusal->kind = kind;
	refusal->index = index;
	return spek_refuse_part(refusal, err, text);
}

#endif
