# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl metrics: the runs and the probe in the kernel for Prometheus."""

from __future__ import annotations

from pathlib import Path

import click

from spekctl.commands import options

EPILOG = """\b
Examples:
  spekctl metrics
  spekctl metrics -o /var/lib/prometheus/node-exporter/spek.prom
"""


@click.command(epilog=EPILOG)
@options.output("Replace FILE atomically, as the textfile collector of node_exporter needs it.")
@click.option(
    "--openmetrics",
    is_flag=True,
    help="As OpenMetrics instead of the text format that the textfile collector reads.",
)
def command(output: Path | None, openmetrics: bool) -> int:
    """Print counters and histograms of all runs in the kernel, and the counters of the probe, for
    Prometheus.

    It works with either module alone: where only the prober is, `spekctl prober start --detach`
    keeps CPUs, memory, network, disks and energy at hand. Bucket bounds of histograms are powers of
    two; the counts are exact. Streams are numbered in the order of the workload. Use this for
    monitoring; the result of a run has all its figures.
    """
    from spekctl import files
    from spekctl.kernel import client
    from spekctl.render import prometheus
    from spekctl.run import scrape

    files.check_writable(output)
    scraped = scrape.everything(client.connect)
    text = prometheus.text(scraped.runs, scraped.probe, openmetrics=openmetrics)
    if output is None:
        click.echo(text, nl=False)
    else:
        files.put(output, text.encode("utf-8"))
    return 0
