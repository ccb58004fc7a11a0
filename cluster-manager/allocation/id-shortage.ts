/** What is said when there is no id for a network, or when nodes keep ids that nobody has. Pure. */
import type { IdRecord } from './id-record.ts';
import { type IdSupply, MOST_NETWORKS } from './network-room.ts';

/** A message names so many of what it is about. */
const MAX_NAMED = 3;

export const idSupply = (record: IdRecord): IdSupply => ({
  get hasNext() {
    return record.hasNext;
  },
  get hasMore() {
    return record.hasMore;
  },
  get failure() {
    return record.failure;
  },
  get desired() {
    return record.desired;
  },
  want: () => record.want(),
  get shortage() {
    return shortage(record);
  },
});

const shortage = (record: IdRecord): string => {
  const all = `all ids from 1 to ${MOST_NETWORKS} are in use`;
  const { size } = record.retired;
  if (size === 0) return all;
  const named = [...record.retired.keys()].slice(0, MAX_NAMED).map((id) => heldId(record, id));
  return `${all}, ${size} of them on nodes that have not reported the removal of a deleted network: ${named.join('; ')}${size > MAX_NAMED ? '; ...' : ''}`;
};

/** `network id 7 of deleted network red_red is still held by node-3` */
export const heldId = (record: IdRecord, id: number): string => {
  const { network, since = '' } = record.retired.get(id) ?? {};
  const holders = record.holdersOf(id);
  const nodes = holders.slice(0, MAX_NAMED).join(', ');
  const others = holders.length > MAX_NAMED ? ` and ${holders.length - MAX_NAMED} others` : '';
  const whose = network === undefined ? 'a deleted network' : `deleted network ${network}`;
  const by = holders.length === 0 ? 'reserved' : `still in use by ${nodes}${others}`;
  return `network id ${id} of ${whose} is ${by}${since === '' ? '' : `, since ${since}`}`;
};
