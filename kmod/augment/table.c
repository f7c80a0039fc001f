// SPDX-License-Identifier: GPL-2.0
/* Table lines: what the words mean, and what is refused. */
#include <linux/blkdev.h>
#include <linux/kernel.h>
#include <linux/kstrtox.h>
#include <linux/time64.h>
#include <linux/uuid.h>
#include "table.h"

#define DM_MSG_PREFIX "spek-augment"
#define DEFAULT_SEQUENTIAL_BLOCKS	256
#define DEFAULT_QUIET_MS		5000
#define DEFAULT_RETRY_MS		5000
#define MAX_STRIPE_BLOCKS		1024

/**
 * struct words - words of a line that are still to be read
 * @left: number of words
 * @next: the words
 */
struct words {
	unsigned int left;
	char **next;
};

/*
 * Device mapper prints the sentence after the constructor has failed, when there is nothing left
 * that could hold it. Two constructors at a time may mix their sentences up; the last byte is never
 * written and stays 0.
 */
static char sentence[256];

/**
 * spek_augment_table_refuse() - refuse a line
 * @unit: unit
 * @device: number of the device to be named, or SPEK_AUGMENT_NONE
 * @text: what is wrong with it, what is allowed
 * @err: negative errno
 *
 * Return: @err.
 */
int spek_augment_table_refuse(struct spek_augment_unit *unit, u32 device, const char *text,
			      int err)
{
	const struct dm_dev *dev = NULL;

	if (device == SPEK_AUGMENT_RAID)
		dev = unit->raid;
	else if (device < SPEK_AUGMENT_DEVICES)
		dev = unit->devices[device];
	if (dev && device == SPEK_AUGMENT_RAID)
		snprintf(sentence, sizeof(sentence) - 1, "RAID %s: %s", dev->name, text);
	else if (dev && device == SPEK_AUGMENT_SSD)
		snprintf(sentence, sizeof(sentence) - 1, "SSD %s: %s", dev->name, text);
	else if (dev)
		snprintf(sentence, sizeof(sentence) - 1, "spare area %s of member %u: %s",
			 dev->name, device - SPEK_AUGMENT_MEMBER, text);
	else
		snprintf(sentence, sizeof(sentence) - 1, "%s", text);
	unit->ti->error = sentence;
	return err;
}

static int refuse(struct spek_augment_unit *unit, const char *text)
{
	return spek_augment_table_refuse(unit, SPEK_AUGMENT_NONE, text, -EINVAL);
}

static const char *take(struct words *words)
{
	if (!words->left)
		return NULL;
	words->left--;
	return *words->next++;
}

static bool take_u32(struct words *words, u32 *value)
{
	const char *word = take(words);

	return word && !kstrtou32(word, 10, value);
}

static int open_device(struct spek_augment_unit *unit, const char *word, struct dm_dev **dev)
{
	int err;

	if (!word)
		return refuse(unit, "A device is missing at the end of the line.");
	err = dm_get_device(unit->ti, word, dm_table_get_mode(unit->ti->table), dev);
	if (err) {
		snprintf(sentence, sizeof(sentence) - 1, "%s cannot be opened.", word);
		unit->ti->error = sentence;
		*dev = NULL;
	}
	return err;
}

static int open_devices(struct spek_augment_unit *unit, struct words *words)
{
	const char *ssd;
	u32 i;
	int err;

	err = open_device(unit, take(words), &unit->raid);
	if (err)
		return err;
	ssd = take(words);
	if (ssd && strcmp(ssd, "-")) {
		err = open_device(unit, ssd, &unit->devices[SPEK_AUGMENT_SSD]);
		if (err)
			return err;
	}
	if (!take_u32(words, &unit->config.nr_members) || !unit->config.nr_members ||
	    unit->config.nr_members > SPEK_AUGMENT_MEMBERS)
		return refuse(unit, "The number of members is 1 to 8.");
	for (i = 0; i < unit->config.nr_members; i++) {
		const char *spare = take(words);

		if (spare && !strcmp(spare, "-"))
			continue;
		err = open_device(unit, spare, &unit->devices[SPEK_AUGMENT_MEMBER + i]);
		if (err)
			return err;
	}
	return 0;
}

static u64 blocks_of(const struct dm_dev *dev)
{
	return bdev_nr_sectors(dev->bdev) / SPEK_AUGMENT_SECTORS;
}

static void set_defaults(struct spek_augment_unit *unit)
{
	struct spek_augment_config *config = &unit->config;
	u32 stripe = bdev_io_opt(unit->raid->bdev) / SPEK_AUGMENT_BLOCK_BYTES;

	config->raid_blocks = blocks_of(unit->raid);
	if (unit->devices[SPEK_AUGMENT_SSD])
		config->ssd_blocks = min_t(u64, blocks_of(unit->devices[SPEK_AUGMENT_SSD]),
					   1U << 31);
	config->copy = SPEK_AUGMENT_COPY_SECOND;
	config->stripe_blocks = stripe && stripe <= MAX_STRIPE_BLOCKS ? stripe : 1;
	config->sequential_blocks = DEFAULT_SEQUENTIAL_BLOCKS;
	config->high_blocks = config->log_blocks / 4 * 3;
	config->low_blocks = config->log_blocks / 2;
	config->quiet_ns = DEFAULT_QUIET_MS * NSEC_PER_MSEC;
	config->retry_ns = DEFAULT_RETRY_MS * NSEC_PER_MSEC;
}

static const char *const copies[] = {
	[SPEK_AUGMENT_COPY_NEVER] = "never",
	[SPEK_AUGMENT_COPY_FIRST] = "first",
	[SPEK_AUGMENT_COPY_SECOND] = "second",
};

static int parse_copy(struct spek_augment_unit *unit, const char *value)
{
	int i = match_string(copies, ARRAY_SIZE(copies), value);

	if (i < 0)
		return refuse(unit, "The feature copy is never, first or second.");
	unit->config.copy = i;
	return 0;
}

static const char *const wakes[] = {
	[SPEK_AUGMENT_WAKE_TURN] = "turn",
	[SPEK_AUGMENT_WAKE_LAST] = "last",
};

static int parse_wake(struct spek_augment_unit *unit, const char *value)
{
	int i = match_string(wakes, ARRAY_SIZE(wakes), value);

	if (i < 0)
		return refuse(unit, "The feature wake is turn or last.");
	unit->config.wake = i;
	return 0;
}

static int parse_unread(struct spek_augment_unit *unit, const char *value)
{
	if (strcmp(value, "refuse") && strcmp(value, "end"))
		return refuse(unit, "The feature unread is refuse or end.");
	unit->ends_unread = !strcmp(value, "end");
	return 0;
}

/* What it means is the caller's own: only what is not one word of a table is refused. */
static int parse_raid(struct spek_augment_unit *unit, const char *value)
{
	size_t length = strlen(value);
	size_t i;

	if (!length || length >= sizeof(unit->config.raid))
		return refuse(unit, "The feature raid takes a name of 1 to 251 characters, or - for none.");
	for (i = 0; i < length; i++)
		if (value[i] <= ' ' || value[i] > '~')
			return refuse(unit, "The name of a RAID has characters of ASCII that are visible.");
	memset(unit->config.raid, 0, sizeof(unit->config.raid));
	if (strcmp(value, "-"))
		memcpy(unit->config.raid, value, length);
	unit->config.sets_raid = true;
	return 0;
}

static int parse_uuid(struct spek_augment_unit *unit, const char *value)
{
	uuid_t uuid;

	if (strlen(value) != UUID_STRING_LEN || uuid_parse(value, &uuid) || uuid_is_null(&uuid))
		return refuse(unit, "The feature format takes a UUID, not all of it 0.");
	memcpy(unit->config.uuid, uuid.b, sizeof(unit->config.uuid));
	unit->wants_format = true;
	return 0;
}

static int parse_feature(struct spek_augment_unit *unit, const char *name, const char *value)
{
	struct spek_augment_config *config = &unit->config;
	const struct {
		const char *name;
		u32 *blocks;
		u64 *ns;
	} numbers[] = {
		{ .name = "prefetch_blocks", .blocks = &config->prefetch_blocks },
		{ .name = "stripe_blocks", .blocks = &config->stripe_blocks },
		{ .name = "sequential_blocks", .blocks = &config->sequential_blocks },
		{ .name = "high_blocks", .blocks = &config->high_blocks },
		{ .name = "low_blocks", .blocks = &config->low_blocks },
		{ .name = "age_ms", .ns = &config->age_ns },
		{ .name = "quiet_ms", .ns = &config->quiet_ns },
		{ .name = "retry_ms", .ns = &config->retry_ns },
	};
	u32 i, number;

	if (!strcmp(name, "format"))
		return parse_uuid(unit, value);
	if (!strcmp(name, "raid"))
		return parse_raid(unit, value);
	if (!strcmp(name, "copy"))
		return parse_copy(unit, value);
	if (!strcmp(name, "unread"))
		return parse_unread(unit, value);
	if (!strcmp(name, "wake"))
		return parse_wake(unit, value);
	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		if (strcmp(name, numbers[i].name))
			continue;
		if (kstrtou32(value, 10, &number))
			return refuse(unit, "The value of a feature is not a number from 0 to 4294967295.");
		if (numbers[i].blocks)
			*numbers[i].blocks = number;
		else
			*numbers[i].ns = number * (u64)NSEC_PER_MSEC;
		return 0;
	}
	return refuse(unit, "There are the features format, raid, unread, copy, wake, prefetch_blocks, stripe_blocks, sequential_blocks, high_blocks, low_blocks, age_ms, quiet_ms and retry_ms.");
}

static int parse_features(struct spek_augment_unit *unit, struct words *words)
{
	u32 number;

	if (!take_u32(words, &number) || number != words->left || number % 2)
		return refuse(unit, "The line ends with the number of words of features, and as many words: names and values in turns.");
	while (words->left) {
		const char *name = take(words);
		int err = parse_feature(unit, name, take(words));

		if (err)
			return err;
	}
	return 0;
}

static int check_device(struct spek_augment_unit *unit, u32 device, u64 blocks, const char *text)
{
	const struct dm_dev *dev = device == SPEK_AUGMENT_RAID ? unit->raid :
								 unit->devices[device];

	if (!dev)
		return 0;
	if (bdev_logical_block_size(dev->bdev) > SPEK_AUGMENT_BLOCK_BYTES)
		return spek_augment_table_refuse(unit, device,
						 "Its logical blocks are longer than 4096 bytes.",
						 -EINVAL);
	if (bdev_is_zoned(dev->bdev))
		return spek_augment_table_refuse(unit, device, "It is zoned.", -EINVAL);
	if (bdev_read_only(dev->bdev))
		return spek_augment_table_refuse(unit, device, "It is read-only.", -EROFS);
	if (blocks_of(dev) < blocks)
		return spek_augment_table_refuse(unit, device, text, -EINVAL);
	return 0;
}

static int check_devices(struct spek_augment_unit *unit)
{
	const u64 spare_blocks = (u64)unit->config.log_blocks + SPEK_AUGMENT_LOG_START;
	u32 device, i;
	int err;

	err = check_device(unit, SPEK_AUGMENT_RAID, 1, "It has no block of 4096 bytes.");
	for (device = 0; !err && device <= unit->config.nr_members; device++) {
		err = check_device(unit, device, spare_blocks,
				   "It is too small: it has to have 2 blocks more than the log.");
		if (err || !unit->devices[device])
			continue;
		if (unit->devices[device] == unit->raid)
			err = spek_augment_table_refuse(unit, device, "It is the RAID, too.",
							-EINVAL);
		for (i = 0; !err && i < device; i++)
			if (unit->devices[i] == unit->devices[device])
				err = spek_augment_table_refuse(unit, device,
								"It is named twice.", -EINVAL);
	}
	if (err)
		return err;
	if (unit->ti->begin || unit->ti->len != blocks_of(unit->raid) * SPEK_AUGMENT_SECTORS)
		return spek_augment_table_refuse(unit, SPEK_AUGMENT_RAID,
						 "The line begins at sector 0 and has all of the RAID's blocks of 8 sectors.",
						 -EINVAL);
	for (device = 0; unit->wants_format && device <= unit->config.nr_members; device++)
		if (!unit->devices[device])
			return refuse(unit, "Every device has to be there to be formatted.");
	return 0;
}

/**
 * spek_augment_table_parse() - open the devices and read the configuration
 * @unit: zeroed; what is opened is in it, whatever is returned
 * @argc: number of words
 * @argv: words
 *
 * Return: 0 or a negative errno, with a sentence in ti->error.
 */
int spek_augment_table_parse(struct spek_augment_unit *unit, unsigned int argc, char **argv)
{
	struct words words = { .left = argc, .next = argv };
	int err;

	err = open_devices(unit, &words);
	if (err)
		return err;
	if (!take_u32(&words, &unit->config.log_blocks))
		return refuse(unit, "The length of the log is not a number of blocks.");
	set_defaults(unit);
	err = parse_features(unit, &words);
	return err ? err : check_devices(unit);
}

static const char *name_of(const struct dm_dev *dev)
{
	return dev ? dev->name : "-";
}

/**
 * spek_augment_table_print() - print the line that would make the target again
 * @unit: unit
 * @result: buffer
 * @maxlen: its length
 *
 * Return: length of the line.
 */
unsigned int spek_augment_table_print(const struct spek_augment_unit *unit, char *result,
				      unsigned int maxlen)
{
	const struct spek_augment_config *config = &unit->config;
	unsigned int sz = 0;
	u32 i;

	DMEMIT("%s %s %u", unit->raid->name, name_of(unit->devices[SPEK_AUGMENT_SSD]),
	       config->nr_members);
	for (i = 0; i < config->nr_members; i++)
		DMEMIT(" %s", name_of(unit->devices[SPEK_AUGMENT_MEMBER + i]));
	DMEMIT(" %u 20 copy %s wake %s", config->log_blocks, copies[config->copy],
	       wakes[config->wake]);
	DMEMIT(" prefetch_blocks %u stripe_blocks %u sequential_blocks %u",
	       config->prefetch_blocks, config->stripe_blocks, config->sequential_blocks);
	DMEMIT(" high_blocks %u low_blocks %u", config->high_blocks, config->low_blocks);
	DMEMIT(" age_ms %llu quiet_ms %llu retry_ms %llu", config->age_ns / NSEC_PER_MSEC,
	       config->quiet_ns / NSEC_PER_MSEC, config->retry_ns / NSEC_PER_MSEC);
	return sz;
}
