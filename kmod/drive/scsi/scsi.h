/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A modelled drive as a SCSI device sees its commands: from CDB to what is wanted, and from the
 * unit's state to parameter data and sense. Pure: no allocation, no clock, no kernel headers.
 *
 *	spek_scsi_decode()	what a CDB asks for, or the sense that refuses it
 *	spek_scsi_answer()	parameter data of commands that only read the unit
 *	spek_scsi_mode_select()	changes mode parameters
 *	spek_scsi_unmap()	what the parameter list of UNMAP asks for
 *	spek_scsi_sense()	sense data, fixed or descriptor format
 *
 * Commands are a table of CDB usage masks as REPORT SUPPORTED OPERATION CODES answers it. A bit
 * that is set outside the mask is an invalid field, with its position in the sense data.
 */
#ifndef SPEK_DRIVE_SCSI_H
#define SPEK_DRIVE_SCSI_H

#include "../../core/spek_host.h"

#define SPEK_SCSI_ANSWER_BYTES		512
#define SPEK_SCSI_SENSE_BYTES		24
#define SPEK_SCSI_MODE_BYTES		256
#define SPEK_SCSI_MAX_SECTORS		65536
#define SPEK_SCSI_SECTOR_BYTES		512
#define SPEK_SCSI_MAX_RANGES		8
#define SPEK_SCSI_NR_COMMANDS		30
/* Header and the one descriptor that UNMAP may have. */
#define SPEK_SCSI_UNMAP_BYTES		24

/**
 * enum spek_scsi_key - sense keys
 * @SPEK_SCSI_NO_SENSE: nothing to report
 * @SPEK_SCSI_RECOVERED_ERROR: success after the drive has corrected an error
 * @SPEK_SCSI_NOT_READY: the unit has to be started, or does not serve yet
 * @SPEK_SCSI_MEDIUM_ERROR: a block can't be read or written
 * @SPEK_SCSI_HARDWARE_ERROR: failure of the drive
 * @SPEK_SCSI_ILLEGAL_REQUEST: wrong field in the CDB or the parameters
 * @SPEK_SCSI_UNIT_ATTENTION: the unit has changed since the last command
 * @SPEK_SCSI_DATA_PROTECT: the medium is write-protected
 * @SPEK_SCSI_ABORTED_COMMAND: the drive gave the command up
 */
enum spek_scsi_key {
	SPEK_SCSI_NO_SENSE		= 0x0,
	SPEK_SCSI_RECOVERED_ERROR	= 0x1,
	SPEK_SCSI_NOT_READY		= 0x2,
	SPEK_SCSI_MEDIUM_ERROR		= 0x3,
	SPEK_SCSI_HARDWARE_ERROR	= 0x4,
	SPEK_SCSI_ILLEGAL_REQUEST	= 0x5,
	SPEK_SCSI_UNIT_ATTENTION	= 0x6,
	SPEK_SCSI_DATA_PROTECT		= 0x7,
	SPEK_SCSI_ABORTED_COMMAND	= 0xb,
};

/* Additional sense code and qualifier, asc << 8 | ascq. */
#define SPEK_SCSI_NO_ADDITIONAL		0x0000
#define SPEK_SCSI_ATA_INFORMATION	0x001d
#define SPEK_SCSI_BECOMING_READY	0x0401
#define SPEK_SCSI_START_REQUIRED	0x0402
#define SPEK_SCSI_POSITIONING_ERROR	0x1501
#define SPEK_SCSI_WRITE_ERROR		0x0c00
#define SPEK_SCSI_READ_ERROR		0x1100
#define SPEK_SCSI_LIST_LENGTH		0x1a00
#define SPEK_SCSI_INVALID_OPCODE	0x2000
#define SPEK_SCSI_LBA_OUT_OF_RANGE	0x2100
#define SPEK_SCSI_INVALID_FIELD		0x2400
#define SPEK_SCSI_INVALID_PARAMETER	0x2600
#define SPEK_SCSI_ALLOCATION_FAILED	0x2707
#define SPEK_SCSI_POWER_ON		0x2900
#define SPEK_SCSI_DEVICE_RESET		0x2903
#define SPEK_SCSI_NO_SAVED_PAGES	0x3900
#define SPEK_SCSI_IDLE_BY_TIMER		0x5e01
#define SPEK_SCSI_STANDBY_BY_TIMER	0x5e02
#define SPEK_SCSI_IDLE_BY_COMMAND	0x5e03
#define SPEK_SCSI_STANDBY_BY_COMMAND	0x5e04

/**
 * struct spek_scsi_sense - sense of a command or of the unit
 * @key: enum spek_scsi_key
 * @code: additional sense code and qualifier
 * @info: first LBA of an error of the medium
 * @has_info: @info is valid
 * @field: byte of the field that is wrong
 * @bit: its highest wrong bit
 * @has_field: @field and @bit are valid
 * @in_cdb: they are about the CDB, else about the parameter list
 * @ata_count: sector count of an ATA answer
 * @ata_status: its status
 * @ata_error: its error register
 * @has_ata: the ATA fields are valid
 */
struct spek_scsi_sense {
	u8 key;
	u16 code;
	u64 info;
	bool has_info;
	u16 field;
	u8 bit;
	bool has_field;
	bool in_cdb;
	u8 ata_count;
	u8 ata_status;
	u8 ata_error;
	bool has_ata;
};

/**
 * struct spek_scsi_range - concurrent positioning range
 * @first: first LBA
 * @sectors: number of sectors
 */
struct spek_scsi_range {
	u64 first;
	u64 sectors;
};

/**
 * struct spek_scsi_mode - mode parameters that can be changed
 * @descriptor_sense: D_SENSE of the control page
 * @standby_timer: STANDBY_Z of the power condition page: the timer runs
 * @standby_ticks: its time in units of 100 ms
 */
struct spek_scsi_mode {
	bool descriptor_sense;
	bool standby_timer;
	u32 standby_ticks;
};

/**
 * struct spek_scsi_unit - what commands read of a unit
 * @vendor: INQUIRY data, padded with spaces
 * @product: likewise
 * @revision: likewise
 * @serial: unit serial number, NUL-terminated
 * @naa: NAA identifier, locally assigned
 * @sectors: capacity
 * @rpm: nominal speed; 1: not rotating
 * @caches_reads: the drive has a read cache
 * @caches_writes: it has a write-back cache
 * @unmap_sectors: granularity of UNMAP; 0: the unit has no UNMAP, and every LBA is mapped
 * @atomic_sectors: sectors of the largest atomic write; 0: the unit has none
 * @nr_ranges: number of concurrent positioning ranges; 0: none are published
 * @ranges: these
 * @nr_elements: number of arms, each a storage element; 0: the unit publishes none, and has no
 *	command about elements
 * @mode: mode parameters of the moment
 */
struct spek_scsi_unit {
	char vendor[8];
	char product[16];
	char revision[4];
	char serial[21];
	u64 naa;
	u64 sectors;
	u16 rpm;
	bool caches_reads;
	bool caches_writes;
	u32 unmap_sectors;
	u32 atomic_sectors;
	u32 nr_ranges;
	struct spek_scsi_range ranges[SPEK_SCSI_MAX_RANGES];
	u32 nr_elements;
	struct spek_scsi_mode mode;
};

/**
 * struct spek_scsi_status - state of the unit at a command
 * @condition: what REQUEST SENSE returns
 * @starts: number of times that the spindle was started
 * @removed: bit n is set if arm n is out of service
 * @sole_sectors: sectors that only arm n reaches, for GET PHYSICAL ELEMENT STATUS
 */
struct spek_scsi_status {
	struct spek_scsi_sense condition;
	u64 starts;
	u32 removed;
	u64 sole_sectors[SPEK_SCSI_MAX_RANGES];
};

/**
 * enum spek_scsi_action - action that a CDB asks for
 * @SPEK_SCSI_REFUSE: none: the request's sense says why
 * @SPEK_SCSI_INQUIRY: INQUIRY
 * @SPEK_SCSI_REPORT_LUNS: REPORT LUNS
 * @SPEK_SCSI_REQUEST_SENSE: REQUEST SENSE
 * @SPEK_SCSI_TEST_READY: TEST UNIT READY
 * @SPEK_SCSI_READ_CAPACITY: READ CAPACITY(10)
 * @SPEK_SCSI_READ_CAPACITY_16: READ CAPACITY(16)
 * @SPEK_SCSI_MODE_SENSE: MODE SENSE(6) or (10)
 * @SPEK_SCSI_MODE_SELECT: MODE SELECT(6) or (10)
 * @SPEK_SCSI_LOG_SENSE: LOG SENSE
 * @SPEK_SCSI_REPORT_OPCODES: REPORT SUPPORTED OPERATION CODES
 * @SPEK_SCSI_READ: a read of any length
 * @SPEK_SCSI_WRITE: a write of any length
 * @SPEK_SCSI_SYNC_CACHE: SYNCHRONIZE CACHE
 * @SPEK_SCSI_UNMAP: UNMAP
 * @SPEK_SCSI_POWER: a change of the power condition
 * @SPEK_SCSI_CHECK_POWER: CHECK POWER MODE through ATA PASS-THROUGH(12) or (16)
 * @SPEK_SCSI_ELEMENT_STATUS: GET PHYSICAL ELEMENT STATUS
 * @SPEK_SCSI_REMOVE_ELEMENT: REMOVE ELEMENT AND TRUNCATE
 * @SPEK_SCSI_RESTORE_ELEMENTS: RESTORE ELEMENTS AND REBUILD
 */
enum spek_scsi_action {
	SPEK_SCSI_REFUSE,
	SPEK_SCSI_INQUIRY,
	SPEK_SCSI_REPORT_LUNS,
	SPEK_SCSI_REQUEST_SENSE,
	SPEK_SCSI_TEST_READY,
	SPEK_SCSI_READ_CAPACITY,
	SPEK_SCSI_READ_CAPACITY_16,
	SPEK_SCSI_MODE_SENSE,
	SPEK_SCSI_MODE_SELECT,
	SPEK_SCSI_LOG_SENSE,
	SPEK_SCSI_REPORT_OPCODES,
	SPEK_SCSI_READ,
	SPEK_SCSI_WRITE,
	SPEK_SCSI_SYNC_CACHE,
	SPEK_SCSI_UNMAP,
	SPEK_SCSI_POWER,
	SPEK_SCSI_CHECK_POWER,
	SPEK_SCSI_ELEMENT_STATUS,
	SPEK_SCSI_REMOVE_ELEMENT,
	SPEK_SCSI_RESTORE_ELEMENTS,
};

/**
 * enum spek_scsi_power - power condition that START STOP UNIT or its ATA counterparts ask for
 * @SPEK_SCSI_POWER_START: active
 * @SPEK_SCSI_POWER_IDLE: idle
 * @SPEK_SCSI_POWER_STANDBY: standby
 * @SPEK_SCSI_POWER_STOP: stopped
 * @SPEK_SCSI_POWER_SLEEP: standby, and no answer to any command until a reset
 * @SPEK_SCSI_POWER_NONE: no change
 */
enum spek_scsi_power {
	SPEK_SCSI_POWER_START,
	SPEK_SCSI_POWER_IDLE,
	SPEK_SCSI_POWER_STANDBY,
	SPEK_SCSI_POWER_STOP,
	SPEK_SCSI_POWER_SLEEP,
	SPEK_SCSI_POWER_NONE,
};

/**
 * struct spek_scsi_request - a decoded CDB
 * @action: what it asks for
 * @sense: why it is refused; for SPEK_SCSI_REFUSE
 * @lba: first sector
 * @sectors: number of sectors; may be 0, and then nothing is transferred
 * @fua: the data must reach the medium before the status
 * @atomic: all of the data must be written, or nothing
 * @length: allocation length or parameter list length
 * @page: page code of INQUIRY, MODE SENSE, LOG SENSE
 * @subpage: subpage of the latter two
 * @control: page control of the latter two
 * @vital: EVPD of INQUIRY
 * @long_form: 10-byte MODE SENSE and MODE SELECT
 * @no_descriptor: DBD of MODE SENSE; DESC of REQUEST SENSE
 * @immediate: the status does not wait for the end
 * @check: CK_COND: ATA registers are wanted
 * @power: of SPEK_SCSI_POWER
 * @keeps_cache: NO_FLUSH of START STOP UNIT: written data need not reach the medium
 * @sets_timer: it sets the standby timer, too
 * @standby_ticks: time of that in units of 100 ms; 0: the timer does not run
 * @opcode: requested operation code of REPORT SUPPORTED OPERATION CODES
 * @service: requested service action
 * @option: reporting option; report type of GET PHYSICAL ELEMENT STATUS
 * @filter: its filter
 * @element: identifier of the element to be removed, or of the first one to be reported
 */
struct spek_scsi_request {
	enum spek_scsi_action action;
	struct spek_scsi_sense sense;
	u64 lba;
	u32 sectors;
	bool fua;
	bool atomic;
	u32 length;
	u8 page;
	u8 subpage;
	u8 control;
	bool vital;
	bool long_form;
	bool no_descriptor;
	bool immediate;
	bool check;
	enum spek_scsi_power power;
	bool keeps_cache;
	bool sets_timer;
	u32 standby_ticks;
	u8 opcode;
	u16 service;
	u8 option;
	u8 filter;
	u32 element;
};

/**
 * struct spek_scsi_command - a command and its CDB
 * @opcode: operation code
 * @service: service action, or -1 for a command without one
 * @action: what it asks for
 * @bytes: length of the CDB
 * @usage: bits that may be set, as in REPORT SUPPORTED OPERATION CODES
 */
struct spek_scsi_command {
	u8 opcode;
	s32 service;
	enum spek_scsi_action action;
	u8 bytes;
	u8 usage[16];
};

extern const struct spek_scsi_command spek_scsi_commands[SPEK_SCSI_NR_COMMANDS];

/* command.c */
void spek_scsi_decode(const struct spek_scsi_unit *unit, const u8 *cdb, u32 bytes,
		      struct spek_scsi_request *request);
const struct spek_scsi_command *spek_scsi_find(const struct spek_scsi_unit *unit, u8 opcode,
					       s32 service, bool *opcode_known);
bool spek_scsi_knows(const struct spek_scsi_unit *unit, const struct spek_scsi_command *command);
int spek_scsi_unmap(const struct spek_scsi_unit *unit, struct spek_scsi_request *request,
		    const u8 *data, u32 bytes);

/* answer.c */
u32 spek_scsi_answer(const struct spek_scsi_unit *unit, const struct spek_scsi_status *status,
		     struct spek_scsi_request *request, u8 *data);

/* mode.c */
u32 spek_scsi_mode_sense(const struct spek_scsi_unit *unit, struct spek_scsi_request *request,
			 u8 *data);
int spek_scsi_mode_select(struct spek_scsi_unit *unit, struct spek_scsi_request *request,
			  const u8 *data, u32 bytes);

/* sense.c */
int spek_scsi_refuse(struct spek_scsi_request *request, u8 key, u16 code);
int spek_scsi_refuse_field(struct spek_scsi_request *request, u16 code, u16 field, u8 bit);
u32 spek_scsi_sense(const struct spek_scsi_sense *sense, bool descriptor, u8 *data);

/* Big-endian fields. */
static inline u32 spek_scsi_get(const u8 *data, u32 bytes)
{
	u32 value = 0;

	while (bytes--)
		value = value << 8 | *data++;
	return value;
}

static inline u64 spek_scsi_get64(const u8 *data)
{
	return (u64)spek_scsi_get(data, 4) << 32 | spek_scsi_get(data + 4, 4);
}

static inline void spek_scsi_put(u8 *data, u32 bytes, u64 value)
{
	while (bytes--) {
		data[bytes] = (u8)value;
		value >>= 8;
	}
}

#endif
