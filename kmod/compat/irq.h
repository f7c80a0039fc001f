/* SPDX-License-Identifier: GPL-2.0 */
/* Interrupt counts kept by the architecture; see compat.h. */
#ifndef SPEK_COMPAT_IRQ_H
#define SPEK_COMPAT_IRQ_H

#include <linux/hardirq.h>
#include <linux/percpu.h>

#include "spek_have.h"

#ifdef SPEK_HAVE_IRQ_STAT_COUNTS
#define SPEK_COMPAT_IRQ_COUNT(stat, field, name)	READ_ONCE((stat)->counts[IRQ_COUNT_##name])
#else
#define SPEK_COMPAT_IRQ_COUNT(stat, field, name)	READ_ONCE((stat)->field)
#endif

/**
 * spek_compat_local_interrupts() - count a CPU's interrupts without a descriptor
 * @cpu: possible CPU
 *
 * kstat doesn't have them. The kernel sums them in arch_irq_stat_cpu(), which modules can't call,
 * but the counters are exported. Each counter may wrap, and the sum with it.
 *
 * Return: sum since boot; 0 on arm64 and others, where every interrupt has a descriptor.
 */
static inline u32 spek_compat_local_interrupts(unsigned int cpu)
{
	u32 sum = 0;
#ifdef CONFIG_X86
	const irq_cpustat_t *stat = per_cpu_ptr(&irq_stat, cpu);

	sum += SPEK_COMPAT_IRQ_COUNT(stat, __nmi_count, NMI);
#ifdef CONFIG_X86_LOCAL_APIC
	sum += SPEK_COMPAT_IRQ_COUNT(stat, apic_timer_irqs, APIC_TIMER);
	sum += SPEK_COMPAT_IRQ_COUNT(stat, irq_spurious_count, SPURIOUS);
	sum += SPEK_COMPAT_IRQ_COUNT(stat, apic_perf_irqs, APIC_PERF);
	sum += SPEK_COMPAT_IRQ_COUNT(stat, apic_irq_work_irqs, IRQ_WORK);
	sum += SPEK_COMPAT_IRQ_COUNT(stat, icr_read_retry_count, ICR_READ_RETRY);
#endif
#ifdef CONFIG_SMP
	sum += SPEK_COMPAT_IRQ_COUNT(stat, irq_resched_count, RESCHEDULE);
	sum += SPEK_COMPAT_IRQ_COUNT(stat, irq_call_count, CALL_FUNCTION);
#endif
#ifdef CONFIG_X86_THERMAL_VECTOR
	sum += SPEK_COMPAT_IRQ_COUNT(stat, irq_thermal_count, THERMAL_APIC);
#endif
#ifdef CONFIG_X86_MCE_THRESHOLD
	sum += SPEK_COMPAT_IRQ_COUNT(stat, irq_threshold_count, THRESHOLD_APIC);
#endif
#ifdef CONFIG_X86_HV_CALLBACK_VECTOR
	sum += SPEK_COMPAT_IRQ_COUNT(stat, irq_hv_callback_count, HYPERVISOR_CALLBACK);
#endif
#if IS_ENABLED(CONFIG_HYPERV)
	sum += SPEK_COMPAT_IRQ_COUNT(stat, irq_hv_reenlightenment_count, HYPERV_REENLIGHTENMENT);
	sum += SPEK_COMPAT_IRQ_COUNT(stat, hyperv_stimer0_count, HYPERV_STIMER0);
#endif
#endif
	return sum;
}

#undef SPEK_COMPAT_IRQ_COUNT

#endif
