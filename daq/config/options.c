// SPDX-License-Identifier: GPL-2.0
/* Parsing of the command line. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../kmod/version.h"
#include "config/options.h"
#include "number.h"
#include "say.h"

#define DEFAULT_QUEUE (1 << 18)
#define MAX_QUEUE (1 << 26)

enum { OPTION_SYSFS = 256, OPTION_HISTORY, OPTION_QUEUE, OPTION_MAX_STEP, OPTION_CHECK, OPTION_ALSO, OPTION_LOG };

static const struct argp_option known[] = {
	{ "source", 's', "NAME", 0, "Source to read (see below); default: the one named in the rails file", 1 },
	{ "rails", 'r', "FILE", 0, "TOML file with the name, channel, voltage and calibration of each rail; default: one rail for each channel that measures power, except a powerN with an energyN beside it", 1 },
	{ "interval", 'i', "TIME", 0, "Sampling interval, e.g. 1ms", 1 },
	{ "set", 'o', "KEY=VALUE", 0, "Setting of the source (see below); overrides the rails file", 1 },
	{ "name", 'n', "NAME", 0, "Name of the feed; default: the one in the rails file, or the name of the source", 2 },
	{ "print", 'p', "WHAT", OPTION_ARG_OPTIONAL, "Write CSV to standard output instead of feeding the prober: rails (in uW; default) or raw (channels as the source delivers them)", 2 },
	{ "also", OPTION_ALSO, "CHANNEL,...", 0, "Channels to read besides those of the rails, such as a meter's voltage and pf, for --log and --print=raw, which then needs no rail", 2 },
	{ "log", OPTION_LOG, "FILE", 0, "Also append all channels to FILE, as --print=raw writes them, while the prober is fed", 2 },
	{ "time", 't', "TIME", 0, "Stop after this time, e.g. 10s", 2 },
	{ "wait", 'w', NULL, 0, "Wait for a missing device or prober instead of exiting", 2 },
	{ "history", OPTION_HISTORY, "N", 0, "Samples that the prober keeps for each rail", 2 },
	{ "max-step", OPTION_MAX_STEP, "TIME", 0, "Largest time between two samples without a gap", 2 },
	{ "queue", OPTION_QUEUE, "N", 0, "Samples to queue while the prober is busy or gone; further ones become a gap, but a file pauses (262144)", 2 },
	{ "list", 'l', NULL, 0, "List the channels of the source and exit", 3 },
	{ "check", OPTION_CHECK, NULL, 0, "Check the rails file and the device and exit", 3 },
	{ "sysfs", OPTION_SYSFS, "DIR", 0, "Mount point of sysfs (/sys)", 3 },
	{ 0 },
};

static const char doc[] =
	"Measures power and feeds the samples to the prober (spek_prober.ko), on the same clock as all other statistics."
	"\v"
	"A TIME is for example 10ms, 1.5s or 2h. SIGINT and SIGTERM stop spek-daq cleanly: it still delivers what it has measured. If the device or the prober disappears, spek-daq waits until it is back; the time in between is a gap.\n"
	"\n"
	"Exit codes:\n"
	"  0  stopped as requested, or at the end of the replayed file or of the program that source exec runs\n"
	"  1  any other failure\n"
	"  2  invalid input: an option, the rails file, a setting, a channel, a CSV file, a program\n"
	"  3  permission denied: the prober needs CAP_SYS_ADMIN, devices need access\n"
	"  4  busy: a feed of that name is open, or another program has the device\n"
	"  5  the prober is not loaded or too old, or has not taken all samples\n"
	"  6  the device is missing";

struct parse {
	struct daq_options *options;
	const char *source;
	const char *name;
	const char *argument;
	const char *also;
	struct daq_setting set[DAQ_MAX_SETTINGS];
	size_t nr_set;
	struct daq_error *err;
	int error;
};

int daq_exit_code(int error)
{
	switch (-error) {
	case 0:
		return EXIT_OK;
	case EINVAL:
	case ERANGE:
	case ENAMETOOLONG:
	case EISDIR:
		return EXIT_USAGE;
	case EPERM:
	case EACCES:
		return EXIT_PERMISSION;
	case EBUSY:
		return EXIT_BUSY;
	case ENOPROTOOPT:
	case EOPNOTSUPP:
		return EXIT_NO_PROBER;
	case ENODEV:
	case ENXIO:
		return EXIT_NO_DEVICE;
	default:
		return EXIT_FAILED;
	}
}

static int take_time(struct parse *parse, const char *option, const char *text, uint64_t *ns)
{
	if (text[0] == '-')
		return daq_fail(parse->err, EINVAL, "--%s is '%s'; a time can't be negative",
				option, text);
	if (daq_parse_duration_ns(text, ns) || !*ns)
		return daq_fail(parse->err, EINVAL,
				"--%s is '%s'; it must be a time greater than 0, for example 10ms or 2s", option, text);
	return 0;
}

static int take_number(struct parse *parse, const char *option, const char *text, int64_t min,
		       int64_t max, int64_t *number)
{
	if (strchr(text, '.') || daq_parse_fixed(text, strlen(text), 0, number) || *number < min ||
	    *number > max)
		return daq_fail(parse->err, EINVAL,
				"--%s is '%s'; it must be a whole number from %lld to %lld", option,
				text, (long long)min, (long long)max);
	return 0;
}

static int take_setting(struct parse *parse, const char *text)
{
	struct daq_setting *set = &parse->set[parse->nr_set];
	size_t length = strcspn(text, "=");

	if (!length || !text[length] || length >= sizeof(set->key) ||
	    strlen(text + length + 1) >= sizeof(set->value))
		return daq_fail(parse->err, EINVAL, "--set is '%s'; write KEY=VALUE", text);
	if (parse->nr_set == DAQ_MAX_SETTINGS)
		return daq_fail(parse->err, EINVAL, "there are more than %d settings",
				DAQ_MAX_SETTINGS);
	memcpy(set->key, text, length);
	strcpy(set->value, text + length + 1);
	parse->nr_set++;
	return 0;
}

static int take_print(struct parse *parse, const char *what)
{
	if (!what || !strcmp(what, "rails"))
		parse->options->print = DAQ_PRINT_RAILS;
	else if (!strcmp(what, "raw"))
		parse->options->print = DAQ_PRINT_RAW;
	else
		return daq_fail(parse->err, EINVAL, "--print is '%s'; it must be rails or raw", what);
	return 0;
}

static int take_option(struct parse *parse, int key, const char *text)
{
	struct daq_options *options = parse->options;

	switch (key) {
	case 's':
		parse->source = text;
		return 0;
	case 'r':
		options->rails_path = text;
		return 0;
	case 'n':
		parse->name = text;
		return 0;
	case 'i':
		return take_time(parse, "interval", text, &options->setup.interval_ns);
	case 't':
		return take_time(parse, "time", text, &options->time_ns);
	case OPTION_MAX_STEP:
		return take_time(parse, "max-step", text, &options->max_step_ns);
	case 'o':
		return take_setting(parse, text);
	case 'p':
		return take_print(parse, text);
	case OPTION_HISTORY:
		return take_number(parse, "history", text, SPEK_PROBER_MIN_HISTORY,
				   SPEK_PROBER_MAX_HISTORY, &options->history);
	case OPTION_QUEUE:
		return take_number(parse, "queue", text, SPEK_PROBER_MAX_BATCH, MAX_QUEUE,
				   &options->queue);
	case 'l':
		options->do_list = true;
		return 0;
	case OPTION_CHECK:
		options->do_check = true;
		return 0;
	case 'w':
		options->do_wait = true;
		return 0;
	case OPTION_SYSFS:
		options->setup.sysfs = text;
		return 0;
	case OPTION_ALSO:
		parse->also = text;
		return 0;
	case OPTION_LOG:
		options->log_path = text;
		return 0;
	default:
		return 1;
	}
}

static error_t on_option(int key, char *text, struct argp_state *state)
{
	struct parse *parse = state->input;
	int outcome;

	if (key == ARGP_KEY_ARG && !parse->argument) {
		parse->argument = text;
		return 0;
	}
	if (key == ARGP_KEY_ARG) {
		parse->error = daq_fail(parse->err, EINVAL,
					"unexpected argument '%s'; see --help", text);
		return EINVAL;
	}
	outcome = take_option(parse, key, text);
	if (outcome > 0)
		return ARGP_ERR_UNKNOWN;
	parse->error = outcome;
	return -outcome;
}

/* Add the sources and their settings to --help, before the exit codes. */
static char *help_filter(int key, const char *text, void *input)
{
	char *made = NULL;
	size_t bytes, i;
	FILE *file;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC || !text)
		return (char *)text;
	file = open_memstream(&made, &bytes);
	if (!file)
		return (char *)text;
	fprintf(file, "Sources:\n");
	for (i = 0; daq_sources[i]; i++) {
		fprintf(file, "  %s: %s\n", daq_sources[i]->name, daq_sources[i]->help);
		if (daq_sources[i]->settings)
			fprintf(file, "    settings: %s\n", daq_sources[i]->settings);
	}
	fprintf(file, "\n%s", text);
	fclose(file);
	return made;
}

/* The argument is a setting of the source, and overrides the others. */
static int take_argument(struct parse *parse)
{
	const struct daq_source_ops *ops = parse->options->ops;
	struct daq_setting *set = &parse->set[parse->nr_set];

	if (!ops || !ops->argument)
		return daq_fail(parse->err, EINVAL, "unexpected argument '%s'; see --help",
				parse->argument);
	if (!parse->argument[0] || strlen(parse->argument) >= sizeof(set->value))
		return daq_fail(parse->err, EINVAL, "the %s of source %s must have 1 to %zu bytes",
				ops->argument, ops->name, sizeof(set->value) - 1);
	if (parse->nr_set == DAQ_MAX_SETTINGS)
		return daq_fail(parse->err, EINVAL, "there are more than %d settings",
				DAQ_MAX_SETTINGS);
	strcpy(set->key, ops->argument);
	strcpy(set->value, parse->argument);
	parse->nr_set++;
	return 0;
}

static int choose_source(struct parse *parse)
{
	struct daq_options *options = parse->options;
	const char *name = parse->source ? parse->source : options->rails.source;
	char list[200] = "";
	size_t i;

	options->ops = daq_source_find(name);
	if (parse->argument)
		return take_argument(parse);
	if (options->ops)
		return 0;
	for (i = 0; daq_sources[i]; i++) {
		strcat(list, i ? ", " : "");
		strcat(list, daq_sources[i]->name);
	}
	if (!name[0])
		return daq_fail(parse->err, EINVAL, "no source given; --source must be one of %s", list);
	return daq_fail(parse->err, EINVAL, "unknown source '%s'; known sources: %s", name, list);
}

/*
 * Return: whether another channel's rail has this one's energy: a device's powerN and energyN
 * measure the same, and a counter misses nothing between two readings.
 */
static bool has_counter(const struct daq_channel *channel, const struct daq_channel *found, int nr)
{
	const char *slash = strrchr(channel->name, '/');
	char counter[DAQ_NAME_MAX + 1];
	int i;

	if (!slash || strncmp(slash, "/power", strlen("/power")))
		return false;
	snprintf(counter, sizeof(counter), "%.*s/energy%s", (int)(slash - channel->name),
		 channel->name, slash + strlen("/power"));
	for (i = 0; i < nr; i++)
		if (found[i].unit == DAQ_UNIT_NJ && !strcmp(found[i].name, counter))
			return daq_name_is_good(counter);
	return false;
}

/* Return: 0, or -EINVAL and a sentence. */
static int add_rail(struct daq_rails *rails, const char *channel, const char *source,
		    struct daq_error *err)
{
	struct daq_rail_spec *rail = &rails->rail[rails->nr_rails];

	if (!daq_name_is_good(channel)) {
		daq_say("channel '%s' is not measured: a rail can't have this name; a rails file can give it another",
			channel);
		return 0;
	}
	if (rails->nr_rails == SPEK_PROBER_MAX_RAILS)
		return daq_fail(err, EINVAL,
				"source %s has more than %d channels that measure power; choose from them in a rails file",
				source, SPEK_PROBER_MAX_RAILS);
	strcpy(rail->name, channel);
	strcpy(rail->channel, channel);
	daq_calibration_default(&rail->cal);
	rails->nr_rails++;
	return 0;
}

static int add_rails(struct daq_options *options, struct daq_channel *found,
		     struct daq_error *err)
{
	const char *source = options->ops->name;
	int nr = options->ops->discover(&options->setup, found, DAQ_MAX_FOUND, err);
	int error = nr < 0 ? nr : 0;
	int i;

	for (i = 0; i < nr && !error; i++)
		if ((found[i].unit == DAQ_UNIT_NW || found[i].unit == DAQ_UNIT_NJ) &&
		    !found[i].is_part && !has_counter(&found[i], found, nr))
			error = add_rail(&options->rails, found[i].name, source, err);
	if (error || options->rails.nr_rails)
		return error;
	return daq_fail(err, ENODEV,
			"source %s has no channel that measures power directly; a rails file can name other channels, or combine current and voltage",
			source);
}

/* Without a rails file, each channel that measures power becomes a rail, but none twice. */
static int make_rails(struct daq_options *options, struct daq_error *err)
{
	struct daq_channel *found;
	int error;

	if (!options->ops->discover)
		return daq_fail(err, EINVAL, "source %s needs a rails file: --rails FILE",
				options->ops->name);
	found = calloc(DAQ_MAX_FOUND, sizeof(*found));
	if (!found)
		return daq_fail(err, ENOMEM, "out of memory");
	error = add_rails(options, found, err);
	free(found);
	return error;
}

/* Duplicates of a rail's channel, or of each other, are read once. */
static int take_also(struct parse *parse)
{
	struct daq_options *options = parse->options;
	struct daq_rails *rails = &options->rails;
	const char *text = parse->also;

	if (options->log_path && options->print != DAQ_PRINT_NOT)
		return daq_fail(parse->err, EINVAL,
				"--log belongs to feeding the prober; what --print writes can be redirected");
	if (text && !options->log_path && options->print != DAQ_PRINT_RAW)
		return daq_fail(parse->err, EINVAL,
				"--also needs --log FILE or --print=raw: the prober takes power only");
	while (text) {
		size_t length = strcspn(text, ",");

		if (!length || length >= DAQ_NAME_MAX)
			return daq_fail(parse->err, EINVAL,
					"--also is '%s'; it must be names of channels, of up to %d bytes, with commas between them",
					parse->also, DAQ_NAME_MAX - 1);
		if (rails->nr_also == DAQ_MAX_CHANNELS)
			return daq_fail(parse->err, EINVAL, "--also has more than %d channels",
					DAQ_MAX_CHANNELS);
		memcpy(rails->also[rails->nr_also++], text, length);
		text = text[length] ? text + length + 1 : NULL;
	}
	return 0;
}

static int complete(struct parse *parse)
{
	struct daq_options *options = parse->options;
	struct daq_rails *rails = &options->rails;
	size_t i;
	int error = 0;

	if (options->rails_path)
		error = daq_rails_load(options->rails_path, options->setup.stop, rails,
				       parse->err);
	if (!error)
		error = choose_source(parse);
	if (error)
		return error;
	if (parse->nr_set + rails->nr_settings > DAQ_MAX_SETTINGS)
		return daq_fail(parse->err, EINVAL, "there are more than %d settings",
				DAQ_MAX_SETTINGS);
	for (i = 0; i < parse->nr_set; i++)
		rails->setting[rails->nr_settings++] = parse->set[i];
	options->setup.setting = rails->setting;
	options->setup.nr_settings = rails->nr_settings;
	if (!options->setup.interval_ns)
		options->setup.interval_ns = rails->interval_ns;
	options->name = options->ops->name;
	if (rails->name[0])
		options->name = rails->name;
	if (parse->name)
		options->name = parse->name;
	if (!daq_name_is_good(options->name))
		return daq_fail(parse->err, EINVAL,
				"'%s' is not a valid feed name; use 1 to %d printable characters without spaces",
				options->name, SPEK_PROBER_MAX_NAME);
	error = take_also(parse);
	if (error || options->do_list || rails->nr_rails)
		return error;
	if (options->rails_path)
		return daq_fail(parse->err, EINVAL, "%s: it has no [[rail]]",
				options->rails_path);
	if (rails->nr_also && options->print == DAQ_PRINT_RAW)
		return 0;
	return make_rails(options, parse->err);
}

int daq_options_parse(struct daq_options *options, int argc, char **argv,
		      const struct daq_stop *stop, struct daq_error *err)
{
	static const struct argp argp = {
		.options = known,
		.parser = on_option,
		.args_doc = "[COMMAND]",
		.doc = doc,
		.help_filter = help_filter,
	};
	struct parse *parse = calloc(1, sizeof(*parse));
	int error;

	if (!parse)
		return daq_fail(err, ENOMEM, "out of memory");
	argp_err_exit_status = EXIT_USAGE;
	argp_program_version = "spek-daq " SPEK_VERSION;
	memset(options, 0, sizeof(*options));
	options->setup.sysfs = "/sys";
	options->setup.stop = stop;
	options->queue = DEFAULT_QUEUE;
	parse->options = options;
	parse->err = err;
	error = -argp_parse(&argp, argc, argv, 0, NULL, parse);
	if (!error)
		error = parse->error;
	if (!error)
		error = complete(parse);
	free(parse);
	return error;
}
