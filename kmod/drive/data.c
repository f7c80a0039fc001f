// SPDX-License-Identifier: GPL-2.0
/*
 * Data of commands, between the host's memory and the store.
 *
 * It moves when the command comes, in the context of its sender, without the unit's lock: not in
 * the timer's interrupt. Commands that are outstanding together have no order, so this is as good
 * as any other.
 */
#include <scsi/scsi.h>
#include <scsi/scsi_cmnd.h>
#include "data.h"

/* Bytes that a read or write moves; the host's buffer may be smaller or of another direction. */
static u32 prepare_bytes(struct scsi_cmnd *cmd, const struct spek_scsi_request *request)
{
	enum dma_data_direction wanted = request->action == SPEK_SCSI_WRITE ? DMA_TO_DEVICE :
									      DMA_FROM_DEVICE;
	u32 bytes = min(request->sectors * SPEK_SCSI_SECTOR_BYTES, scsi_bufflen(cmd));

	if (cmd->sc_data_direction != wanted)
		bytes = 0;
	scsi_set_resid(cmd, scsi_bufflen(cmd) - bytes);
	return bytes;
}

/* Whether a power cut must not lose a write. */
static bool is_permanent(const struct spek_unit *unit, const struct spek_scsi_request *request)
{
	return !READ_ONCE(unit->ignores_flush) &&
	       (request->fua || !unit->scsi.caches_writes);
}

static int read_or_write(struct spek_unit *unit, struct scsi_cmnd *cmd,
			 struct spek_scsi_request *request, bool refused)
{
	u32 bytes;
	int err;

	bytes = prepare_bytes(cmd, request);
	if (!bytes || refused)
		return 0;
	if (request->action == SPEK_SCSI_READ) {
		spek_store_read(&unit->store, request->lba, scsi_sglist(cmd), scsi_sg_count(cmd),
				bytes);
		return 0;
	}
	err = spek_store_write(&unit->store, request->lba, scsi_sglist(cmd), scsi_sg_count(cmd),
			       bytes, is_permanent(unit, request), request->atomic);
	/* What a thinly provisioned disk says: the block layer makes ENOSPC of it. */
	if (err == -ENOSPC) {
		spek_scsi_refuse(request, SPEK_SCSI_DATA_PROTECT, SPEK_SCSI_ALLOCATION_FAILED);
		return 0;
	}
	return err;
}

static void unmap_sectors(struct spek_unit *unit, struct scsi_cmnd *cmd,
			  struct spek_scsi_request *request, bool refused)
{
	u8 data[SPEK_SCSI_UNMAP_BYTES];
	u32 given = min(request->length, scsi_bufflen(cmd));
	u32 bytes = min_t(u32, given, sizeof(data));

	if (bytes)
		bytes = scsi_sg_copy_to_buffer(cmd, data, bytes);
	scsi_set_resid(cmd, scsi_bufflen(cmd) - given);
	if (!spek_scsi_unmap(&unit->scsi, request, data, bytes) && !refused)
		spek_store_unmap(&unit->store, request->lba,
				 (u64)request->sectors << SECTOR_SHIFT);
}

/**
 * spek_data_flushes() - ask whether a command makes written data permanent
 * @request: what it asks for
 *
 * Those do that stop the spindle, unless the host does not want it.
 *
 * Return: true if a drive that does not ignore flushes has to.
 */
bool spek_data_flushes(const struct spek_scsi_request *request)
{
	if (request->action == SPEK_SCSI_SYNC_CACHE)
		return true;
	if (request->action != SPEK_SCSI_POWER || request->keeps_cache)
		return false;
	return request->power == SPEK_SCSI_POWER_STOP ||
	       request->power == SPEK_SCSI_POWER_STANDBY ||
	       request->power == SPEK_SCSI_POWER_SLEEP;
}

/**
 * spek_data_move() - move the data of a command, make it permanent, or forget it
 * @unit: the unit
 * @cmd: the command; its residual count is set
 * @request: what it asks for; made a refusal if the store is full or the parameters are wrong
 * @refused: the command is going to be refused, or to come again: nothing moves
 *
 * Context: the sender's, may be atomic.
 * Return: 0, or -ENOMEM for a write that has to come again.
 */
int spek_data_move(struct spek_unit *unit, struct scsi_cmnd *cmd,
		   struct spek_scsi_request *request, bool refused)
{
	switch (request->action) {
	case SPEK_SCSI_READ:
	case SPEK_SCSI_WRITE:
		return read_or_write(unit, cmd, request, refused);
	case SPEK_SCSI_UNMAP:
		unmap_sectors(unit, cmd, request, refused);
		return 0;
	default:
		if (spek_data_flushes(request) && !refused && !READ_ONCE(unit->ignores_flush))
			spek_store_flush(&unit->store);
		return 0;
	}
}
