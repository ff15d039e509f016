/*
 * pace - when new positions, and numbers in texts, of waiting groups are written. Internal to the shell of the Queue reconciler.
 */
#ifndef KAR_QUEUE_PACE_H
#define KAR_QUEUE_PACE_H

#include "controllers/queue/pass.h"

enum queue_pace {
	QUEUE_NEVER, /* nothing is out of date, or not by enough */
	QUEUE_SOON,  /* with the next positions */
	QUEUE_LATER, /* with the next numbers of those who are not among the first of their line */
};

/* Fills in .line_moved, and in .lengths what groups know when these are told, from the result and what they were @told last. */
void queue_compare_lines(struct queue_pass *p, const struct queue_lines *told) KAR_NONNULL;
/* Groups have been told of all lines that have moved. */
void queue_note_lines(const struct queue_pass *p, struct queue_lines *told) KAR_NONNULL;
void queue_forget_lines(struct queue_lines *lines) KAR_NONNULL;

/*
 * Does @recorded, a message, say what @text does, but for numbers? A number is a word that begins with a digit. Only compares: nothing is
 * read from it. Pure.
 */
bool queue_says_the_same(const char *recorded, const char *text) KAR_NONNULL;
/* Of group @i, of which nothing is news. @message: its new one; NULL: it is admitted. */
enum queue_pace queue_pace_of(const struct queue_pass *p, uint32_t i, const char *message)
	__attribute__((nonnull(1)));

#endif
