/* no version: control, compiles and must be a "no": nothing exports the function */
/* asks about: spek_compat_no_kernel_exports_this_function */
/* exported: spek_compat_no_kernel_exports_this_function */
#include <linux/module.h>

void spek_compat_no_kernel_exports_this_function(void);
void probe(void);

void probe(void)
{
	spek_compat_no_kernel_exports_this_function();
}
