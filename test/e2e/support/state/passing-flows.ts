/**
 * Flows of the gateway bridge that come and go with packets: who has asked for a neighbour, which the bridge learns by itself,
 * and neighbours that the node knows, as long as it does: as whom they answer, and whose MAC pods of localnets do not have.
 * docs/datapath.md, "ARP and neighbour discovery".
 */
const PASSING = String.raw`table=21\b|table=20\b.*\b(arp_tpa|nd_target)=|priority=640,reg3=\w+/\w+,dl_src=`;

const pattern = new RegExp(PASSING);

/** @param line of `ovs-ofctl dump-flows` or `ovs-ofctl monitor` */
export const isPassing = (line: string): boolean => pattern.test(line);

/** A filter of a shell's pipe that leaves them out. */
export const WITHOUT_PASSING = `grep -Ev '${PASSING}'`;
