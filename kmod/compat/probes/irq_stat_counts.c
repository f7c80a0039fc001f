/* v7.2, 2b57c69917ee ("x86/irq: Make irqstats array based") */
/* asks about: counts IRQ_COUNT_NMI irq_stat irq_cpustat_t */
#include <linux/hardirq.h>
#include <linux/percpu.h>

unsigned int probe(unsigned int cpu);

unsigned int probe(unsigned int cpu)
{
	const irq_cpustat_t *stat = per_cpu_ptr(&irq_stat, cpu);

	return stat->counts[IRQ_COUNT_NMI];
}
