/** The entry of `external_ids` that marks a row as ours; its value is the row's key. Nothing without it is touched. */
export const OWNER_KEY = 'ovn-udn/key';

/**
 * The entry that marks ports of pods and their interfaces in the Open_vSwitch database; its value is the port's name. They
 * come and go with the calls of the container runtime, so the reconciler, which knows rows of ours by `OWNER_KEY`, must
 * not take them for rows that nobody wants.
 */
export const POD_PORT_KEY = 'ovn-udn/port';
