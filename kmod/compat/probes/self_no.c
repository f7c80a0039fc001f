/* no version: control, must not compile; a "yes" means that the probing itself is broken */
/* asks about: spek_compat_no_kernel_has_this_function */
#include <linux/module.h>

void probe(void);

void probe(void)
{
	spek_compat_no_kernel_has_this_function();
}
