// SPDX-License-Identifier: GPL-2.0
/*
 * The SCSI host of a drive: one for each, so that queue depth and removal are the drive's own.
 * The drive is channel 0, target 0, LUN 0.
 */
#include <linux/async.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <scsi/scsi.h>
#include <scsi/scsi_cmnd.h>
#include <scsi/scsi_device.h>
#include <scsi/scsi_host.h>
#include "../compat/drive.h"
#include "host.h"
#include "serve.h"

static struct spek_unit *unit_of(struct Scsi_Host *host)
{
	return *(struct spek_unit **)shost_priv(host);
}

static spek_compat_qc_status queue_command(struct Scsi_Host *host, struct scsi_cmnd *cmd)
{
	return spek_unit_serve(unit_of(host), cmd);
}

static int abort_command(struct scsi_cmnd *cmd)
{
	return spek_unit_abort(unit_of(cmd->device->host), cmd) ? SUCCESS : FAILED;
}

static int reset_device(struct scsi_cmnd *cmd)
{
	return spek_unit_abort(unit_of(cmd->device->host), NULL) ? SUCCESS : FAILED;
}

static struct scsi_host_template template = {
	.module = THIS_MODULE,
	.name = "spek modelled drive",
	.proc_name = "spek_drive",
	.queuecommand = queue_command,
	.eh_abort_handler = abort_command,
	.eh_device_reset_handler = reset_device,
	.change_queue_depth = scsi_change_queue_depth,
	.cmd_size = sizeof(struct spek_unit_command),
	.this_id = -1,
	.sg_tablesize = SG_MAX_SEGMENTS,
	.max_sectors = SPEK_SCSI_MAX_SECTORS,
	.skip_settle_delay = 1,
};

/**
 * spek_host_add() - make the host of a drive and find its disk
 * @unit: the drive
 *
 * Waits for the disk driver, which probes asynchronously.
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int spek_host_add(struct spek_unit *unit)
{
	struct Scsi_Host *host = scsi_host_alloc(&template, sizeof(unit));
	int err;

	if (!host)
		return -ENOMEM;
	*(struct spek_unit **)shost_priv(host) = unit;
	host->can_queue = unit->config->model.queue_depth;
	host->cmd_per_lun = unit->config->model.queue_depth;
	host->max_id = 1;
	host->max_lun = 1;
	host->max_cmd_len = 16;
	err = scsi_add_host(host, &unit->device->dev);
	if (err)
		goto err_put_host;
	unit->host = host;
	err = scsi_add_device(host, 0, 0, 0);
	if (err)
		goto err_remove_host;
	async_synchronize_full();
	return 0;

err_remove_host:
	unit->host = NULL;
	scsi_remove_host(host);
err_put_host:
	scsi_host_put(host);
	return err;
}

/**
 * spek_host_remove() - remove a drive's disk and host
 * @unit: unit; one without a host is fine
 *
 * Context: process, may sleep.
 */
void spek_host_remove(struct spek_unit *unit)
{
	if (!unit->host)
		return;
	scsi_remove_host(unit->host);
	scsi_host_put(unit->host);
	unit->host = NULL;
}
