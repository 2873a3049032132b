/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * odd_names SECONDS: one thread for each hostile name below, all with the same
 * work, plus the first thread, which sleeps. The names go to standard output as
 * hex, one a line after READY, so that a test knows them without guessing.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static const char *const names[] = {"GC [worker] #1", "[ET_NET 0]", "a) S 1 (b", "semi;colon;x",
	"<b>&\"'</b>", "new\nline", "\xff\xfe-bytes", "", "  lead", "kworker/0:1", "main 42",
	"\xe7\x81\xab\xe7\x84\xb0\xf0\x9f\x94\xa5", "%s%n", "tab\tx", "[unknown]", "\x1b[31mred",
	"back\\slash", "\xe2\x80\xaertl"};

static volatile unsigned long sink;

__attribute__((noinline)) void named_work(void)
{
	for (int i = 0; i < 500000; i++)
		sink++;
}

static void *work(void *arg)
{
	prctl(PR_SET_NAME, arg);
	for (;;) {
		named_work();
		usleep(1000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t;
	size_t i, k;

	printf("READY pid=%d\n", getpid());
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		pthread_create(&t, NULL, work, (void *)names[i]);
		for (k = 0; k < strlen(names[i]); k++)
			printf("%02x", (unsigned char)names[i][k]);
		printf("\n");
	}
	printf("END\n");
	fflush(stdout);
	sleep(argc > 1 ? (unsigned)atoi(argv[1]) : 10);
	_exit(0);
}
