// SPDX-License-Identifier: GPL-2.0
/*
 * The SCSI host of a drive: one for each, so that queue depth and removal are the drive's own.
 * The drive is channel 0, target 0, LUN 0.
 */
#include <linux/device.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/platform_device.h>
#include <scsi/scsi.h>
#include <scsi/scsi_cmnd.h>
#include <scsi/scsi_device.h>
#include <scsi/scsi_host.h>
#include "../compat/drive.h"
#include "events.h"
#include "host.h"
#include "serve.h"

/**
 * struct host_data - what a host knows of its drive, which it outlives while its disk is open
 * @lock: held during a reset, which the removal of the host does not wait for
 * @unit: the drive; NULL once the host is removed
 */
struct host_data {
	struct mutex lock;
	struct spek_unit *unit;
};

static struct host_data *data_of(struct Scsi_Host *host)
{
	return shost_priv(host);
}

static spek_compat_qc_status queue_command(struct Scsi_Host *host, struct scsi_cmnd *cmd)
{
	return spek_unit_serve(data_of(host)->unit, cmd);
}

static int abort_command(struct scsi_cmnd *cmd)
{
	return spek_unit_abort(data_of(cmd->device->host)->unit, cmd) ? SUCCESS : FAILED;
}

/* Also for SG_SCSI_RESET, whose command is none that the removal of the host knows of. */
static int reset_device(struct scsi_cmnd *cmd)
{
	struct host_data *data = data_of(cmd->device->host);
	bool done;

	mutex_lock(&data->lock);
	done = data->unit && spek_unit_abort(data->unit, NULL);
	mutex_unlock(&data->lock);
	return done ? SUCCESS : FAILED;
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

/* Remove a host. No command and no reset reaches the drive any more when it returns. */
static void remove_host(struct Scsi_Host *host)
{
	scsi_remove_host(host);
	mutex_lock(&data_of(host)->lock);
	data_of(host)->unit = NULL;
	mutex_unlock(&data_of(host)->lock);
}

/**
 * spek_host_add() - make the host of a drive and find its disk
 * @unit: the drive
 *
 * Waits for the disk driver, which probes asynchronously, and for no other one's probes.
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int spek_host_add(struct spek_unit *unit)
{
	struct Scsi_Host *host = scsi_host_alloc(&template, sizeof(struct host_data));
	struct scsi_device *sdev;
	int err;

	if (!host)
		return -ENOMEM;
	mutex_init(&data_of(host)->lock);
	data_of(host)->unit = unit;
	host->can_queue = unit->config->model.queue_depth;
	host->cmd_per_lun = unit->config->model.queue_depth;
	host->max_id = 1;
	host->max_lun = 1;
	host->max_cmd_len = 16;
	err = scsi_add_host(host, &unit->device->dev);
	if (err)
		goto err_put_host;
	unit->host = host;
	sdev = __scsi_add_device(host, 0, 0, 0, NULL);
	if (IS_ERR(sdev)) {
		err = PTR_ERR(sdev);
		goto err_remove_host;
	}
	/* Takes the lock under which the driver probes, or probes here if it has not begun. */
	err = device_attach(&sdev->sdev_gendev);
	scsi_device_put(sdev);
	if (err < 0)
		goto err_remove_host;
	return 0;

err_remove_host:
	unit->host = NULL;
	remove_host(host);
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
	remove_host(unit->host);
	scsi_host_put(unit->host);
	unit->host = NULL;
}
