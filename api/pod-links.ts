/** The node's ends of pods' interfaces: what goes out by one is at the pod, past Open vSwitch and all of OVN. */

/** Both ends are made in this group (`ip link show group N`). The three letters "udn" as a number. */
export const POD_LINK_GROUP = 0x75_64_6e;
/** Links that are to be deleted, all at once: `Kernel.deleteGroup`. One left behind by a crash goes with the next. */
export const DYING_LINK_GROUP = POD_LINK_GROUP + 1;
