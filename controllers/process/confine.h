/*
 * confine - hides the memory of the process, which holds credentials, from other processes.
 */
#ifndef KAR_CONFINE_H
#define KAR_CONFINE_H

/*
 * From now on the process leaves no core dump, and no process but one of root may read its memory or attach to it. A build with
 * AddressSanitizer still lets processes of its user attach, because its leak check does that.
 */
void kar_confine(void);

#endif
