// SPDX-License-Identifier: GPL-2.0
/* spek-daq: measures power and delivers it to the prober. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "config/options.h"
#include "print.h"
#include "say.h"
#include "session.h"

static int list_channels(const struct daq_options *options, struct daq_error *err)
{
	static const char *const what[] = {
		[DAQ_UNIT_UV] = "voltage", [DAQ_UNIT_UA] = "current", [DAQ_UNIT_NW] = "power",
		[DAQ_UNIT_NJ] = "energy", [DAQ_UNIT_PPM] = "ratio",
		[DAQ_UNIT_BITS] = "digital", [DAQ_UNIT_MC] = "temperature",
	};
	struct daq_channel *found;
	int nr, i;

	if (!options->ops->discover)
		return daq_fail(err, EINVAL, "source %s can't list its channels; they are: %s",
				options->ops->name, options->ops->help);
	found = calloc(DAQ_MAX_FOUND, sizeof(*found));
	if (!found)
		return daq_fail(err, ENOMEM, "out of memory");
	nr = options->ops->discover(&options->setup, found, DAQ_MAX_FOUND, err);
	for (i = 0; i < nr; i++)
		printf("%s\t%s\n", found[i].name, what[found[i].unit]);
	free(found);
	return nr < 0 ? nr : daq_print_flush(err);
}

int main(int argc, char **argv)
{
	struct daq_options *options = calloc(1, sizeof(*options));
	struct daq_error err = { "out of memory" };
	int error = options ? 0 : -ENOMEM;
	struct daq_stop stop = { -1, -1 };

	/* First, because threads that libraries create inherit the signal mask. */
	if (!error)
		error = daq_stop_init(&stop, &err);
	if (!error)
		error = daq_options_parse(options, argc, argv, &stop, &err);
	if (!error)
		error = options->do_list ? list_channels(options, &err) :
					   daq_session_run(options, &err);
	/* A stop while the source opens is as good as any, unless its answer was asked for. */
	if (error == -ECANCELED && !options->do_list && !options->do_check)
		error = 0;
	if (error)
		daq_say("%s", err.text);
	free(options);
	daq_stop_deinit(&stop);
	return daq_exit_code(error);
}
