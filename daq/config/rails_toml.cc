// SPDX-License-Identifier: GPL-2.0
/*
 * TOML to struct daq_rails. In C++ because the distribution's TOML library is; no C++ leaves this
 * file.
 */
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>

#define TOML_HEADER_ONLY 0
#include <toml++/toml.h>

#include "config/rails.h"

namespace {

struct wrong {
	std::string text;
};

[[noreturn]] void refuse(const toml::node *at, const std::string &text)
{
	if (at && at->source().begin.line)
		throw wrong{ "line " + std::to_string(at->source().begin.line) + ": " + text };
	throw wrong{ text };
}

std::string quoted(std::string_view text)
{
	return "'" + std::string(text) + "'";
}

void refuse_others(const toml::table &table, std::initializer_list<const char *> known,
		   const std::string &where)
{
	for (auto &&[key, node] : table) {
		std::string list;
		bool found = false;

		for (const char *name : known) {
			found = found || key.str() == name;
			list += (list.empty() ? "" : ", ") + std::string(name);
		}
		if (!found)
			refuse(&node, "unknown key " + quoted(key.str()) + " " + where + "; known keys: " + list);
	}
}

void take_text(const toml::table &table, const char *key, char *to, size_t room)
{
	const toml::node *node = table.get(key);

	if (!node)
		return;
	auto value = node->value_exact<std::string_view>();
	if (!value)
		refuse(node, quoted(key) + " must be a string in quotes");
	if (value->empty() || value->size() >= room || value->find('\0') != value->npos)
		refuse(node, quoted(key) + " must have 1 to " + std::to_string(room - 1) + " bytes");
	std::memcpy(to, value->data(), value->size());
	to[value->size()] = '\0';
}

void take_name(const toml::table &table, const char *key, char *to, size_t room)
{
	take_text(table, key, to, room);
	if (to[0] && !daq_name_is_good(to))
		refuse(table.get(key), quoted(to) + " is not a valid name; use printable characters without spaces");
}

/* Return: whether the key exists. */
bool take_number(const toml::table &table, const char *key, int64_t min, int64_t max, int64_t *to)
{
	const toml::node *node = table.get(key);

	if (!node)
		return false;
	auto value = node->value_exact<int64_t>();
	if (!value || *value < min || *value > max)
		refuse(node, quoted(key) + " must be a whole number from " + std::to_string(min) +
			     " to " + std::to_string(max));
	*to = *value;
	return true;
}

void take_setting(struct daq_rails *rails, std::string_view key, const toml::node &node)
{
	struct daq_setting *setting = &rails->setting[rails->nr_settings];
	std::string text;

	if (rails->nr_settings == DAQ_MAX_SETTINGS)
		refuse(&node, "there are more than " + std::to_string(DAQ_MAX_SETTINGS) + " settings");
	if (auto number = node.value_exact<int64_t>())
		text = std::to_string(*number);
	else if (auto flag = node.value_exact<bool>())
		text = *flag ? "true" : "false";
	else if (auto string = node.value_exact<std::string_view>())
		text = *string;
	else
		refuse(&node, "setting " + quoted(key) + " must be a whole number, a string, true or false");
	if (key.size() >= sizeof(setting->key) || text.size() >= sizeof(setting->value))
		refuse(&node, "setting " + quoted(key) + " is too long");
	std::memcpy(setting->key, key.data(), key.size());
	std::memcpy(setting->value, text.data(), text.size());
	rails->nr_settings++;
}

void take_calibration(const toml::table &table, struct daq_rail_spec *rail)
{
	int64_t number;

	daq_calibration_default(&rail->cal);
	/* Any number is accepted here: daq_calibration_check() does the checks. */
	take_number(table, "zero_uv", INT64_MIN, INT64_MAX, &rail->cal.zero_uv);
	take_number(table, "sens_uv_per_a", INT64_MIN, INT64_MAX, &rail->cal.sens_uv_per_a);
	take_number(table, "voltage_scale_ppm", INT64_MIN, INT64_MAX, &rail->cal.voltage_scale_ppm);
	if (take_number(table, "turns", 0, UINT32_MAX, &number))
		rail->cal.turns = static_cast<uint32_t>(number);
	if (take_number(table, "voltage_mv", INT64_MIN / 1000, INT64_MAX / 1000, &number)) {
		rail->cal.voltage_uv = number * 1000;
		if (!number)
			refuse(table.get("voltage_mv"), "rail " + quoted(rail->name) +
			       ": voltage_mv is 0; give the rail's nominal voltage in mV");
	}
}

void take_rail(struct daq_rails *rails, const toml::node &node)
{
	const toml::table *table = node.as_table();
	struct daq_rail_spec *rail = &rails->rail[rails->nr_rails];

	if (!table)
		refuse(&node, "a rail must be a table; begin it with [[rail]]");
	if (rails->nr_rails == SPEK_PROBER_MAX_RAILS)
		refuse(&node, "there are more than " + std::to_string(SPEK_PROBER_MAX_RAILS) + " rails");
	refuse_others(*table, { "name", "channel", "voltage_mv", "voltage_channel", "voltage_scale_ppm",
				"zero_uv", "sens_uv_per_a", "turns" }, "in a rail");
	take_name(*table, "name", rail->name, sizeof(rail->name));
	if (!rail->name[0])
		refuse(&node, "the rail has no name");
	for (size_t i = 0; i < rails->nr_rails; i++)
		if (!std::strcmp(rails->rail[i].name, rail->name))
			refuse(&node, "two rails are called " + quoted(rail->name));
	std::memcpy(rail->channel, rail->name, sizeof(rail->name));
	take_text(*table, "channel", rail->channel, sizeof(rail->channel));
	take_text(*table, "voltage_channel", rail->voltage_channel, sizeof(rail->voltage_channel));
	take_calibration(*table, rail);
	rails->nr_rails++;
}

void take_all(const toml::table &table, struct daq_rails *rails)
{
	int64_t interval_us;

	refuse_others(table, { "source", "name", "interval_us", "settings", "rail" }, "in a rails file");
	take_text(table, "source", rails->source, sizeof(rails->source));
	take_name(table, "name", rails->name, sizeof(rails->name));
	if (take_number(table, "interval_us", 1, 3600000000LL, &interval_us))
		rails->interval_ns = static_cast<uint64_t>(interval_us) * 1000;
	if (const toml::node *settings = table.get("settings")) {
		if (!settings->is_table())
			refuse(settings, "'settings' must be a table; begin it with [settings]");
		for (auto &&[key, node] : *settings->as_table())
			take_setting(rails, key.str(), node);
	}
	if (const toml::node *rail = table.get("rail")) {
		if (!rail->is_array())
			refuse(rail, "'rail' must be an array of tables; begin each with [[rail]]");
		for (auto &&node : *rail->as_array())
			take_rail(rails, node);
	}
}

} // namespace

extern "C" int daq_rails_parse(const char *text, size_t length, struct daq_rails *rails,
			       struct daq_error *err)
{
	std::memset(rails, 0, sizeof(*rails));
	try {
		take_all(toml::parse(std::string_view(text, length)), rails);
	} catch (const toml::parse_error &error) {
		return daq_fail(err, EINVAL, "line %u: %s", error.source().begin.line,
				std::string(error.description()).c_str());
	} catch (const wrong &error) {
		return daq_fail(err, EINVAL, "%s", error.text.c_str());
	} catch (const std::exception &error) {
		return daq_fail(err, ENOMEM, "cannot parse it: %s", error.what());
	}
	return 0;
}
