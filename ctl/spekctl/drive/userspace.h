/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A modelled drive of the core, with its memory, in a program in userspace. */
#ifndef SPEKCTL_DRIVE_USERSPACE_H
#define SPEKCTL_DRIVE_USERSPACE_H

#include <stdlib.h>

#include "drive.h"

#define SENTENCE_BYTES	256

static inline bool userspace_drive_alloc_tables(struct spek_drive_mechanics *mechanics,
						const struct spek_drive_description *description)
{
	if (description->flash_channels)
		return true;
	/* Without any, memory for one: a drive without zones or points is refused by its model. */
	mechanics->geometry.zones = calloc(description->nr_zones + 1,
					   sizeof(*mechanics->geometry.zones));
	mechanics->seek.points = calloc(description->nr_seek_points + 1,
					sizeof(*mechanics->seek.points));
	return mechanics->geometry.zones && mechanics->seek.points;
}

/**
 * userspace_drive_init() - make a drive at time 0
 * @model: zeroed; userspace_drive_deinit() has to follow either way
 * @drive: filled in
 * @flash: NULL; memory of a flash drive
 * @description: what it leaves out is filled in
 * @bytes: size of the description
 * @sentence: of SENTENCE_BYTES, zeroed; filled in if there is no drive
 *
 * Return: whether there is a drive.
 */
static inline bool userspace_drive_init(struct spek_drive_model *model, struct spek_drive *drive,
					void **flash, struct spek_drive_description *description,
					u64 bytes, char *sentence)
{
	struct spek_refusal refusal = { 0 };

	if (bytes != sizeof(*description)) {
		strcpy(sentence,
		       "The core and the program have different descriptions of drives.");
		return false;
	}
	if (!userspace_drive_alloc_tables(&model->mechanics, description))
		goto no_memory;
	if (spek_drive_describe(model, description, &refusal) ||
	    spek_drive_model_init(model, &refusal)) {
		strncpy(sentence, refusal.text, SENTENCE_BYTES - 1);
		return false;
	}
	spek_drive_init(drive, model, 0);
	if (!model->flash.channels)
		return true;
	*flash = malloc(spek_drive_flash_bytes(&model->flash));
	if (!*flash)
		goto no_memory;
	spek_drive_init_flash(drive, *flash);
	return true;

no_memory:
	strcpy(sentence, "There is no memory for the drive.");
	return false;
}

/**
 * userspace_drive_deinit() - free a drive's memory
 * @model: model, or what came of the attempt to make it
 * @flash: memory of a flash drive, or NULL
 */
static inline void userspace_drive_deinit(struct spek_drive_model *model, void *flash)
{
	free(model->mechanics.geometry.zones);
	free(model->mechanics.seek.points);
	free(flash);
}

#endif
