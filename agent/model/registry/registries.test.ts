import { expect, it } from 'vitest';
import { parseNetworkId } from '../../../net/ids.ts';
import {
  askerCookie,
  COOKIES,
  CT_MARKS,
  CT_ZONES,
  isAskerCookie,
  networkCtMark,
  networkPacketMark,
  PACKET_MARKS,
} from './marks.ts';
import { NFT_CHAINS, NFT_SETS } from './nftables.ts';
import { FLOW_PRIORITIES, FLOW_TABLES } from './openflow.ts';
import { RULE_PRIORITIES, vrfTable } from './routing.ts';

const all = Array.from({ length: 4095 }, (_, index) => parseNetworkId(index + 1));

it.each([
  ['connection marks', [...Object.values(CT_MARKS), ...all.map(networkCtMark)]],
  ['packet marks', [...Object.values(PACKET_MARKS), ...all.map(networkPacketMark)]],
  ['conntrack zones', Object.values(CT_ZONES)],
  ['cookies', [...Object.values(COOKIES), ...all.map(askerCookie)]],
  ['flow tables', Object.values(FLOW_TABLES)],
  ['routing tables', [7, 253, 254, 255, ...all.map(vrfTable)]],
  ['rule priorities', Object.values(RULE_PRIORITIES)],
  ['chains and sets', [...Object.values(NFT_CHAINS), ...Object.values(NFT_SETS)].map(({ name }) => name)],
] as const)('%s mean one thing each', (_, values) => {
  expect(new Set<unknown>(values).size).toBe(values.length);
});

it.each(Object.entries(FLOW_PRIORITIES))(
  'priorities of table %s mean one thing each, the highest first',
  (_, ranks) => {
    const priorities = Object.values(ranks as Readonly<Record<string, { readonly priority: number }>>).map(
      ({ priority }) => priority,
    );
    expect(priorities).toEqual([...new Set(priorities)].sort((a, b) => b - a));
  },
);

it('what a bridge learns is known by its cookie, and is none of the flows that are wanted', () => {
  expect(all.every((id) => isAskerCookie(askerCookie(id)))).toBe(true);
  expect(Object.values(COOKIES).filter(isAskerCookie)).toEqual([]);
});

it('zones are above those that ovn-controller gives to ports', () => {
  expect(Math.min(...Object.values(CT_ZONES))).toBeGreaterThan(32_767);
});
