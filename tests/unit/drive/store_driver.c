// SPDX-License-Identifier: GPL-2.0
/*
 * A store and the limit that all drives share: what unmaps have taken out counts until it is free,
 * writes that it is in the way of come again, and what a flush made permanent a cut leaves alone.
 */
#include <pthread.h>
#include <semaphore.h>

#include "store_kernel.h"
#include "../../../kmod/drive/store.h"

#define LIMIT_PAGES	(MACHINE_PAGES / 4)
#define STORE_PAGES	(LIMIT_PAGES / 8)
#define SECTORS		(PAGE_SIZE >> SECTOR_SHIFT)

extern unsigned int *const param_store_limit_mib;

long nr_pages;
static struct rcu_head *waiting;
static u8 data[PAGE_SIZE];
static struct scatterlist list = { data, sizeof(data) };

void call_rcu(struct rcu_head *head, void (*function)(struct rcu_head *head))
{
	head->function = function;
	head->next = waiting;
	waiting = head;
}

void rcu_barrier(void)
{
	while (waiting) {
		struct rcu_head *head = waiting;

		waiting = head->next;
		head->function(head);
	}
}

/* ---- a write that is overtaken by another one of the same page ---- */

enum place {
	NOWHERE,
	BEFORE_COPY,
	BEFORE_ALLOC,
};

static struct spek_store overtaken;
static pthread_t writer;
static sem_t is_there, may_go;
static enum place stops_at;
static bool is_writing;

static void stop_at(enum place place)
{
	if (stops_at != place)
		return;
	stops_at = NOWHERE;
	REQUIRE(!sem_post(&is_there) && !sem_wait(&may_go));
}

void before_copy(void)
{
	stop_at(BEFORE_COPY);
}

void before_alloc(void)
{
	stop_at(BEFORE_ALLOC);
}

static void write_half(unsigned long half, u8 value, bool permanent)
{
	u8 bytes[PAGE_SIZE / 2];
	struct scatterlist part = { bytes, sizeof(bytes) };

	memset(bytes, value, sizeof(bytes));
	REQUIRE(!spek_store_write(&overtaken, half * SECTORS / 2, &part, 1, sizeof(bytes),
				  permanent, false));
}

static void *write_permanently(void *unused)
{
	write_half(1, 2, true);
	return NULL;
}

static void begin_writing(enum place place)
{
	stops_at = place;
	is_writing = true;
	REQUIRE(!sem_init(&is_there, 0, 0) && !sem_init(&may_go, 0, 0));
	REQUIRE(!pthread_create(&writer, NULL, write_permanently, NULL));
	REQUIRE(!sem_wait(&is_there));
}

static void end_writing(void)
{
	if (!is_writing)
		return;
	is_writing = false;
	REQUIRE(!sem_post(&may_go) && !pthread_join(writer, NULL));
}

void wait_for_lock(void)
{
	end_writing();
}

/* A later write of the same page comes first. */
void synchronize_rcu(void)
{
	if (is_writing)
		write_half(0, 3, false);
	end_writing();
}

/* ---- stores ---- */

static int put(struct spek_store *store, unsigned long page, u8 value)
{
	memset(data, value, sizeof(data));
	return spek_store_write(store, page * SECTORS, &list, 1, sizeof(data), false, false);
}

static u8 get(struct spek_store *store, unsigned long page)
{
	spek_store_read(store, page * SECTORS, &list, 1, sizeof(data));
	return data[0];
}

static void fill(struct spek_store *stores)
{
	unsigned long page;

	for (page = 0; page < LIMIT_PAGES; page++)
		REQUIRE(!put(&stores[page / STORE_PAGES], page % STORE_PAGES, 1));
}

static void test_unmapped_pages_count_until_they_are_free(void)
{
	static struct spek_store stores[LIMIT_PAGES / STORE_PAGES + 1];
	struct spek_store *last = &stores[LIMIT_PAGES / STORE_PAGES];
	unsigned long i;

	for (i = 0; i <= LIMIT_PAGES / STORE_PAGES; i++)
		spek_store_init(&stores[i], false, 0);
	fill(stores);
	REQUIRE(put(last, 0, 1) == -ENOSPC);
	REQUIRE(!spek_store_reserve(1));
	spek_store_unmap(&stores[0], 0, STORE_PAGES * PAGE_SIZE);
	REQUIRE(!stores[0].nr_pages.value && get(&stores[0], 0) == 0);
	/* For now: the command comes again. */
	for (i = 0; i < STORE_PAGES; i++)
		REQUIRE(put(last, i, 1) == -ENOMEM);
	REQUIRE(nr_pages == LIMIT_PAGES);
	rcu_barrier();
	REQUIRE(nr_pages == LIMIT_PAGES - STORE_PAGES);
	for (i = 0; i < STORE_PAGES; i++)
		REQUIRE(!put(last, i, 1));
	REQUIRE(put(last, i, 1) == -ENOSPC);
	/* A reservation waits for memory that is about to be free. */
	spek_store_unmap(last, 0, STORE_PAGES * PAGE_SIZE);
	REQUIRE(spek_store_reserve(STORE_PAGES * PAGE_SIZE));
	REQUIRE(put(last, 0, 1) == -ENOSPC);
	spek_store_unreserve(STORE_PAGES * PAGE_SIZE);
	REQUIRE(!put(last, 0, 1));
	for (i = 0; i <= LIMIT_PAGES / STORE_PAGES; i++)
		spek_store_deinit(&stores[i]);
	spek_store_exit();
	REQUIRE(!nr_pages);
	REQUIRE(spek_store_reserve(LIMIT_PAGES * PAGE_SIZE));
	spek_store_unreserve(LIMIT_PAGES * PAGE_SIZE);
}

static void test_what_will_not_fit_is_refused_while_pages_leave(void)
{
	static struct spek_store stores[LIMIT_PAGES / STORE_PAGES + 1];
	struct spek_store *last = &stores[LIMIT_PAGES / STORE_PAGES];
	unsigned long i;

	for (i = 0; i <= LIMIT_PAGES / STORE_PAGES; i++)
		spek_store_init(&stores[i], false, 0);
	fill(stores);
	spek_store_unmap(&stores[0], 0, PAGE_SIZE);
	REQUIRE(put(last, 0, 1) == -ENOMEM);
	/* Nobody waits for a page where two are needed. */
	REQUIRE(!spek_store_reserve(2 * PAGE_SIZE));
	REQUIRE(nr_pages == LIMIT_PAGES);
	/* Half of the limit is in use by what stays, with the page that is written. */
	*param_store_limit_mib = (LIMIT_PAGES * PAGE_SIZE / 2) >> 20;
	for (i = 0; i < 4; i++) {
		REQUIRE(put(last, 0, 1) == -ENOSPC);
		spek_store_unmap(&stores[i], 0, STORE_PAGES * PAGE_SIZE);
	}
	REQUIRE(put(last, 0, 1) == -ENOSPC);
	spek_store_unmap(&stores[4], 0, PAGE_SIZE);
	REQUIRE(put(last, 0, 1) == -ENOMEM);
	rcu_barrier();
	REQUIRE(!put(last, 0, 1));
	REQUIRE(put(last, 1, 1) == -ENOSPC);
	*param_store_limit_mib = 0;
	for (i = 0; i <= LIMIT_PAGES / STORE_PAGES; i++)
		spek_store_deinit(&stores[i]);
	spek_store_exit();
	REQUIRE(!nr_pages);
}

static void test_own_limit_is_free_at_once(void)
{
	static struct spek_store store;

	spek_store_init(&store, false, 2 * PAGE_SIZE);
	REQUIRE(!put(&store, 0, 1) && !put(&store, 1, 1));
	REQUIRE(put(&store, 2, 1) == -ENOSPC);
	spek_store_unmap(&store, 0, PAGE_SIZE);
	REQUIRE(!put(&store, 2, 1));
	spek_store_deinit(&store);
	spek_store_exit();
	REQUIRE(!nr_pages);
}

static void test_a_cut_loses_what_was_not_flushed(void)
{
	static struct spek_store store;

	spek_store_init(&store, false, 0);
	spek_store_track(&store, true);
	REQUIRE(!put(&store, 0, 1) && !put(&store, 1, 1));
	spek_store_flush(&store);
	REQUIRE(!put(&store, 0, 2) && !put(&store, 2, 2));
	REQUIRE(get(&store, 0) == 2);
	spek_store_cut(&store, false);
	REQUIRE(get(&store, 0) == 1 && get(&store, 1) == 1 && get(&store, 2) == 0);
	spek_store_deinit(&store);
	spek_store_exit();
	REQUIRE(!nr_pages);
}

static void test_a_permanent_write_survives_that_was_under_way_before_tracking(void)
{
	spek_store_init(&overtaken, false, 0);
	REQUIRE(!put(&overtaken, 0, 1));
	begin_writing(BEFORE_COPY);
	spek_store_track(&overtaken, true);
	synchronize_rcu();
	spek_store_cut(&overtaken, false);
	REQUIRE(get(&overtaken, 0) == 1 || get(&overtaken, 0) == 3);
	REQUIRE(data[PAGE_SIZE / 2] == 2);
	spek_store_deinit(&overtaken);
	spek_store_exit();
	REQUIRE(!nr_pages);
}

static void test_a_page_that_two_writes_make_counts_once(void)
{
	spek_store_init(&overtaken, false, PAGE_SIZE);
	begin_writing(BEFORE_ALLOC);
	write_half(0, 3, false);
	end_writing();
	REQUIRE(get(&overtaken, 0) == 3 && data[PAGE_SIZE / 2] == 2);
	REQUIRE(overtaken.nr_pages.value == 1);
	REQUIRE(put(&overtaken, 1, 1) == -ENOSPC);
	spek_store_deinit(&overtaken);
	spek_store_exit();
	REQUIRE(!nr_pages);
}

int main(void)
{
	test_unmapped_pages_count_until_they_are_free();
	test_what_will_not_fit_is_refused_while_pages_leave();
	test_own_limit_is_free_at_once();
	test_a_cut_loses_what_was_not_flushed();
	test_a_permanent_write_survives_that_was_under_way_before_tracking();
	test_a_page_that_two_writes_make_counts_once();
	return 0;
}
