/* v5.18, f00432063db1 ("SUNRPC: Ensure we flush any closed sockets before xs_xprt_free()") */
/* asks about: __fput_sync */
/* exported: __fput_sync */
#include <linux/file.h>

void probe(struct file *file);

void probe(struct file *file)
{
	__fput_sync(file);
}
