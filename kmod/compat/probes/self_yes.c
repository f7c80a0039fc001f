/* any version: control, must compile; a "no" means that the probing itself is broken */
#include <linux/module.h>

void probe(void);

void probe(void)
{
	pr_info("yes\n");
}
