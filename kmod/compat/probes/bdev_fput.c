/* v6.9, 22650a99821d ("fs,block: yield devices early") */
/* asks about: bdev_fput */
#include <linux/blkdev.h>

void probe(struct file *file);

void probe(struct file *file)
{
	bdev_fput(file);
}
