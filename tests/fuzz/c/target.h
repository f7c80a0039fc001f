/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fuzz targets: one function each, in the table of main.c. Which one runs says the environment's
 * FUZZ_TARGET, so one program has them all. A target that finds a broken promise calls
 * fuzz_broken(); wrong accesses and undefined behaviour are the sanitizers' part.
 */
#ifndef SPEK_FUZZ_TARGET_H
#define SPEK_FUZZ_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void fuzz_core_workload(const uint8_t *data, size_t size);
void fuzz_core_numbers(const uint8_t *data, size_t size);
void fuzz_core_sense(const uint8_t *data, size_t size);
void fuzz_drive_scsi(const uint8_t *data, size_t size);
void fuzz_rail(const uint8_t *data, size_t size);
void fuzz_u6(const uint8_t *data, size_t size);
void fuzz_modbus(const uint8_t *data, size_t size);
void fuzz_powersensor3(const uint8_t *data, size_t size);
void fuzz_quarch(const uint8_t *data, size_t size);
void fuzz_daq_text(const uint8_t *data, size_t size);
void fuzz_daq_csv(const uint8_t *data, size_t size);
void fuzz_daq_lines(const uint8_t *data, size_t size);
void fuzz_daq_rails(const uint8_t *data, size_t size);
void fuzz_daq_sysfs(const uint8_t *data, size_t size);
void fuzz_daq_clock(const uint8_t *data, size_t size);
void fuzz_daq_push(const uint8_t *data, size_t size);

/** fuzz_broken() - say what and abort. */
void fuzz_broken(const char *what) __attribute__((noreturn));
#define FUZZ_REQUIRE(holds, what) do { if (!(holds)) fuzz_broken(what); } while (0)

/**
 * struct fuzz_input - bytes that are taken from the front
 *
 * Where they end, zeroes follow.
 */
struct fuzz_input {
	const uint8_t *data;
	size_t size;
};

uint64_t fuzz_bytes(struct fuzz_input *in, unsigned int bytes);
/** fuzz_any64() - Return: a number; most are small, powers of two, or next to one. */
uint64_t fuzz_any64(struct fuzz_input *in);
/** fuzz_or() - Return: mostly @usual, which also follows the end of the input. */
uint64_t fuzz_or(struct fuzz_input *in, uint64_t usual);
/** fuzz_upto() - Return: 0..@most. */
uint32_t fuzz_upto(struct fuzz_input *in, uint32_t most);
/** fuzz_text() - Return: a copy of a piece of at most @most bytes that ends with 0; free() it. */
char *fuzz_text(struct fuzz_input *in, size_t most);

#endif
