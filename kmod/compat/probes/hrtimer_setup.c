/* v6.13, 908a1d775422 ("hrtimers: Introduce hrtimer_setup() to replace hrtimer_init()") */
#include <linux/hrtimer.h>

void probe(struct hrtimer *timer, enum hrtimer_restart (*fn)(struct hrtimer *timer));

void probe(struct hrtimer *timer, enum hrtimer_restart (*fn)(struct hrtimer *timer))
{
	hrtimer_setup(timer, fn, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
}
