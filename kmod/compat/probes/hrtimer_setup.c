/* v6.13, 908a1d775422 ("hrtimers: Introduce hrtimer_setup() to replace hrtimer_init()") */
/* asks about: hrtimer_setup */
#include <linux/hrtimer.h>

void probe(struct hrtimer *timer, enum hrtimer_restart (*function)(struct hrtimer *timer));

void probe(struct hrtimer *timer, enum hrtimer_restart (*function)(struct hrtimer *timer))
{
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
}
