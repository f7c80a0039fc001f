/* v6.4, 2243acd50ac0 ("driver core: class: remove struct class_interface * from callbacks") */
/* asks about: class_interface */
#include <linux/device/class.h>

void probe(struct class_interface *interface, int (*add)(struct device *dev));

void probe(struct class_interface *interface, int (*add)(struct device *dev))
{
	interface->add_dev = add;
}
