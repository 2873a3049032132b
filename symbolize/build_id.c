/* SPDX-License-Identifier: BSD-2-Clause */
/* Notes are {namesz, descsz, type, name, desc}, name and desc padded to the
 * segment's alignment: 4, or 8 for .note.gnu.property (gABI, "Note Section"). */
#include "build_id.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/base/cursor.h"

#define NOTES_MAX 65536 /* bytes of one range looked at; real ones have 36-1,000 */

static size_t pad(size_t len, size_t align)
{
	return (align - len % align) % align;
}

/* A kind of note; its owner has 4 bytes, the NUL included. */
struct kind {
	const char *owner;
	uint32_t type;
};

static const struct kind gnu_build_id = {"GNU", NT_GNU_BUILD_ID};
static const struct kind go_build_id = {"Go\0", 4};

static size_t find_note(
	struct cursor *c, size_t align, const struct kind *kind, uint8_t id[BUILD_ID_MAX])
{
	while (cursor_left(c) >= 12) {
		uint32_t namesz = cursor_u32(c), descsz = cursor_u32(c), type = cursor_u32(c);
		const void *name = cursor_bytes(c, namesz), *desc;

		cursor_skip(c, pad(namesz, align));
		desc = cursor_bytes(c, descsz);
		if (cursor_err(c))
			return 0;
		if (type == kind->type && namesz == 4 && memcmp(name, kind->owner, 4) == 0 &&
			descsz) {
			if (!id)
				return descsz;
			if (descsz <= BUILD_ID_MAX) {
				memcpy(id, desc, descsz);
				return descsz;
			}
		}
		/* The last one may lack its padding. */
		if (cursor_left(c) < pad(descsz, align))
			return 0;
		cursor_skip(c, pad(descsz, align));
	}
	return 0;
}

static size_t look_at(
	const struct elf_file *f, uint32_t from, const struct kind *kind, uint8_t id[BUILD_ID_MAX])
{
	size_t found = 0;

	for (uint32_t i = from; i < f->nr_notes && !found; i++) {
		const struct elf_note *n = &f->notes[i];
		size_t len = n->size < NOTES_MAX ? (size_t)n->size : NOTES_MAX;
		uint8_t *raw = malloc(len);
		struct cursor c;

		if (raw && elf_read(f, n->offset, raw, len, NULL) == 0) {
			cursor_init(&c, raw, len);
			found = find_note(&c, (size_t)n->align, kind, id);
		}
		free(raw);
	}
	return found;
}

size_t build_id_read(struct elf_file *f, uint8_t id[BUILD_ID_MAX])
{
	uint32_t seen = f->nr_notes;
	size_t len = look_at(f, 0, &gnu_build_id, id);

	if (len || f->sections || elf_read_sections(f, NULL))
		return len;
	return look_at(f, seen, &gnu_build_id, id);
}

int build_id_is_go(const struct elf_file *f)
{
	return look_at(f, 0, &go_build_id, NULL) != 0;
}

int build_id_of_fd(int fd, uint8_t id[BUILD_ID_MAX])
{
	struct elf_file *f;
	int own = dup(fd), err;
	size_t len;

	if (own < 0)
		return -errno;
	err = elf_open(&f, own, "file", NULL);
	if (err)
		return err;
	len = build_id_read(f, id);
	elf_close(f);
	return (int)len;
}
