/* SPDX-License-Identifier: GPL-2.0 */
/*
 * polled.h - common part of the sources that poll sysfs
 *
 * Each scan reads all channels one after the other; its timestamp is the middle of that read, with
 * half the duration as uncertainty.
 *
 * Channels may belong to different devices. One that cannot be read has no value and is looked up
 * again from time to time, while the others continue; only without any channel is the device gone.
 */
#ifndef SPEK_DAQ_SOURCES_POLLED_H
#define SPEK_DAQ_SOURCES_POLLED_H

#include <limits.h>

#include "pace.h"
#include "sources/energy_counter.h"
#include "sources/outage.h"
#include "sources/source.h"

#define DAQ_POLLED_INTERVAL_NS 10000000

/**
 * typedef daq_polled_attach_fn - find the file of channel @index below @root and pass it to
 *	daq_polled_attach()
 * Return: 0, or -errno and a sentence.
 */
typedef int daq_polled_attach_fn(struct daq_source *source, size_t index, const char *root,
				 struct daq_error *err);

/**
 * struct daq_polled - state of a polled source
 * @pace: schedule of the scans
 * @interval_ns: scan interval
 * @root: directory of the class in sysfs
 * @attach: finds the files
 * @tried_ns: last attempt to find the missing channels
 * @fd: file descriptor per channel, -1 if it is missing
 * @outages: outages of the channels
 * @scale: factor from the number in the file to the value; not used for DAQ_UNIT_NJ
 * @counter: counters of the channels in DAQ_UNIT_NJ, which are read in uJ
 * @at_ns: time of the last scan
 * @value: values of the last scan
 */
struct daq_polled {
	struct daq_pace pace;
	uint64_t interval_ns;
	char root[PATH_MAX];
	daq_polled_attach_fn *attach;
	uint64_t tried_ns;
	int fd[DAQ_MAX_CHANNELS];
	struct daq_outages outages;
	int64_t scale[DAQ_MAX_CHANNELS];
	struct daq_energy_counter counter[DAQ_MAX_CHANNELS];
	uint64_t at_ns;
	int64_t value[DAQ_MAX_CHANNELS];
};

/**
 * daq_polled_open() - open a source whose channels are files under one class of sysfs
 * @class: directory below /sys/class
 * Return: 0, or -errno and a sentence.
 */
int daq_polled_open(struct daq_source *source, const struct daq_setup *setup, const char *class,
		    daq_polled_attach_fn *attach, struct daq_error *err);

/** daq_polled_attach() - read channel @index from @path. Return: as daq_polled_open(). */
int daq_polled_attach(struct daq_source *source, size_t index, const char *path,
		      enum daq_unit unit, int64_t scale, struct daq_error *err);

/**
 * daq_polled_pin() - after daq_polled_attach(): refuse channel @index if its device is another one
 *	than at first; for channels that name the device by @entry, its number in sysfs
 * Return: as daq_identity_pin().
 */
int daq_polled_pin(struct daq_source *source, size_t index, const char *entry,
		   struct daq_error *err);

/* operations for struct daq_source_ops */
int daq_polled_start(struct daq_source *source, struct daq_error *err);
int daq_polled_read(struct daq_source *source, int timeout_ms, struct daq_block *block,
		    struct daq_error *err);
void daq_polled_stop(struct daq_source *source);
void daq_polled_close(struct daq_source *source);

#endif
