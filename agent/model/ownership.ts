/** The entry of `external_ids` that marks a row as ours; its value is the row's key. Nothing without it is touched. */
export const OWNER_KEY = 'ovn-udn/key';
