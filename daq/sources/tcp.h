/* SPDX-License-Identifier: GPL-2.0 */
/* tcp.h - connecting to a server or a meter on a network */
#ifndef SPEK_DAQ_SOURCES_TCP_H
#define SPEK_DAQ_SOURCES_TCP_H

#include <stdbool.h>
#include <stdint.h>

#include "stop.h"

/** daq_tcp_is_address() - Return: whether @host is an IPv4 or IPv6 address. */
bool daq_tcp_is_address(const char *host);

/**
 * daq_tcp_connect() - connect
 * @host: an IPv4 or IPv6 address
 * @port: port of the server
 * @stop: request that ends the wait; NULL: none does
 * @end_ns: CLOCK_MONOTONIC
 * Return: a socket, not blocking; -ECANCELED: the request has come; -ETIMEDOUT; or another -errno.
 */
int daq_tcp_connect(const char *host, uint16_t port, const struct daq_stop *stop, uint64_t end_ns);

#endif
